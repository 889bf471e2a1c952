"""Train the gnome net on the tables of `draw_gnomes.py` and write it as one ONNX file.

Needs torch and onnx beside the product's own numpy and opencv-python, in a venv of their own; nothing in the product
imports them. One thread; `draw_gnomes.py` may run at the same time, training then waits for the first tables.

    python -m tests.bench.train_gnomes train DATA vision/data/gnomes.onnx --minutes 85 --seed 1
    python -m tests.bench.train_gnomes measure CHECK vision/data/gnomes.onnx
"""

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np

from tests.bench.draw_gnomes import CROP, DRAWN_PX, PART_NAMES, SHAKES, scaled

PIECE_PX = 36.0  # a lying gnome's true length in what the net is trained on
READ_PX = 38.0  # and in what it is asked about, as good as 40 and cheaper
SIDE = 128  # of a training sample
MAPS = 5  # centre, piece; in training also head, offset x, offset y
KEPT = 2  # of these the written net says
WIDTHS = (24, 56, 80)  # the net's channels at 1/4, 1/8 and 1/16 of the picture
OFFSET_PX = 16.0  # the net's offsets are in this unit
SPREAD = 64.0
NO_EMPTY = 0.15  # of the samples come without an empty picture


# ---- samples --------------------------------------------------------------------------------------------------------


class Crops:
    """All crops drawn so far, read again while `draw_gnomes.py` is still at work; hard ones come more often."""

    def __init__(self, folders):
        self.folders, self.known, self.crops, self.losses = folders, set(), [], []
        self.look()

    def look(self):
        for path in (p for folder in self.folders for p in sorted(folder.glob("table*.npz"))):
            if path not in self.known:
                self.known.add(path)
                with np.load(path) as file:
                    crops = list(zip(*(file[k] for k in PART_NAMES), strict=True))
                self.crops += [shrunk(*crop) for crop in crops]
                self.losses += [math.inf] * len(crops)

    def draw(self, rng, n):
        """Numbers (n,) of crops, and their samples: of two at random each time the one that is still worse."""
        pairs = rng.integers(len(self.crops), size=(n, 2))
        chosen = [max(pair, key=lambda i: self.losses[i]) for pair in pairs]
        samples = [sample(*self.crops[i], rng) for i in chosen]
        return chosen, [np.stack(part) for part in zip(*samples, strict=True)]

    def note(self, chosen, losses):
        for i, loss in zip(chosen, losses, strict=True):
            self.losses[i] = loss


def shrunk(picture, empty, owners, pieces):
    """A crop as drawn at the scale that the net is trained at."""
    half = round(CROP * PIECE_PX / DRAWN_PX / 2)
    scale = 2 * half / CROP
    sides = [cv2.resize(i, (2 * half, 2 * half), interpolation=cv2.INTER_AREA) for i in (picture, empty)]
    pieces = pieces.copy()
    pieces[:, :4] = (pieces[:, :4] + 0.5) * scale - 0.5
    return *sides, cv2.resize(owners, (half, half), interpolation=cv2.INTER_NEAREST), pieces


def sample(picture, empty, owners, pieces, rng):
    """One augmented sample: channels, targets (MAPS, SIDE / 2, SIDE / 2), where errors count, where offsets do."""
    left, top = (2 * rng.integers(0, (len(picture) - SIDE) // 2 + 1, 2)).tolist()
    pictures = [i[top : top + SIDE, left : left + SIDE] for i in (picture, empty)]
    owners = owners[top // 2 : (top + SIDE) // 2, left // 2 : (left + SIDE) // 2]
    target, weight, mask = targets(owners, pieces - np.float32([left, top, left, top, 0, 0]))
    data = recoloured(channels(pictures[0], None if rng.random() < NO_EMPTY else pictures[1]), rng)
    return turned(data, target, weight, mask, rng)


def channels(picture, empty):
    """Six float32 channels (6, rows, columns): the picture, and the picture minus the empty one (zero without it)."""
    now = picture.astype(np.float32)
    change = np.zeros_like(now) if empty is None else now - empty.astype(np.float32)
    return np.concatenate([(now - 128) / SPREAD, change / SPREAD], axis=2).transpose(2, 0, 1)


def recoloured(data, rng):
    if rng.random() < 0.5:
        order = rng.permutation(3)
        data = data[np.concatenate([order, order + 3])]
    data = data * np.float32(math.exp(rng.normal(0, 0.12)))
    data[:3] += np.float32(rng.normal(0, 0.15))
    return data


def turned(data, target, weight, mask, rng):
    """Mirrored and turned by quarters, the offsets too."""
    if rng.random() < 0.5:
        data, target, weight, mask = (a[..., ::-1] for a in (data, target, weight, mask))
        target = target * np.float32([1, 1, 1, -1, 1])[:, None, None]
    for _ in range(rng.integers(4)):
        data, target, weight, mask = (np.rot90(a, 1, (-2, -1)) for a in (data, target, weight, mask))
        target = np.stack([target[0], target[1], target[2], target[4], -target[3]])
    return tuple(np.ascontiguousarray(a) for a in (data, target, weight, mask))


def targets(owners, pieces):
    """Maps of centres, pieces, heads and offsets at half size; where errors count; where offsets are known."""
    h, w = owners.shape
    target, weight = np.zeros((MAPS, h, w), np.float32), np.ones((3, h, w), np.float32)
    weight[:, owners == 255] = 0
    hardly = np.zeros((h, w), bool)
    body = (owners > 0) & (owners < 255)
    target[1] = body
    spots = (pieces - 0.5) / 2
    for i, (cx, cy, hx, hy) in enumerate(spots[:, :4].tolist()):
        share = pieces[i, 4]
        if not (-8 < cx < w + 8 and -8 < cy < h + 8) or share < 0.02:
            continue
        if share < 0.15:
            np.copyto(window(hardly, cx, cy, 3), True)
        else:
            stamp(target[0], cx, cy)
        if head_shows(owners, i, hx, hy):
            stamp(target[2], hx, hy)
    weight[0][hardly & (target[0] < 0.3)] = 0
    number = np.where(body, owners - 1, 14).astype(np.intp)
    target[3] = (spots[:, 0].astype(np.float32)[number] - np.arange(w, dtype=np.float32)) * (2 / OFFSET_PX)
    target[4] = (spots[:, 1].astype(np.float32)[number] - np.arange(h, dtype=np.float32)[:, None]) * (2 / OFFSET_PX)
    return target, weight, body.astype(np.float32)[None]


def window(map_, cx, cy, reach=5):
    """The part of a map around a place."""
    x, y = round(cx), round(cy)
    return map_[max(y - reach, 0) : max(y + reach + 1, 0), max(x - reach, 0) : max(x + reach + 1, 0)]


def head_shows(owners, i, hx, hy):
    ix, iy = round(hx), round(hy)
    return 0 <= ix < owners.shape[1] and 0 <= iy < owners.shape[0] and owners[iy, ix] == i + 1


def stamp(heat, cx, cy, reach=5):
    """A bump of one cell's width whose nearest cell is exactly 1."""
    part = window(heat, cx, cy, reach)
    x = max(round(cx) - reach, 0) + np.arange(part.shape[1], dtype=np.float32)
    y = max(round(cy) - reach, 0) + np.arange(part.shape[0], dtype=np.float32)[:, None]
    np.maximum(part, np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * 1.1**2)), out=part)
    if 0 <= round(cx) < heat.shape[1] and 0 <= round(cy) < heat.shape[0]:
        heat[round(cy), round(cx)] = 1.0


# ---- the net --------------------------------------------------------------------------------------------------------


def build_net(torch):
    nn = torch.nn

    def conv(a, b, size=3, stride=1):
        return nn.Sequential(nn.Conv2d(a, b, size, stride, 1 if size == 3 else 0, bias=False), nn.BatchNorm2d(b))

    class Residual(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one, self.two = conv(width, width), conv(width, width)

        def forward(self, x):
            return torch.relu(x + self.two(torch.relu(self.one(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            fine, mid, deep = WIDTHS
            self.stem = nn.Sequential(conv(6, fine, 4, 4), nn.ReLU(), Residual(fine))
            self.mid = nn.Sequential(conv(fine, mid, 3, 2), nn.ReLU(), Residual(mid), Residual(mid))
            self.deep = nn.Sequential(conv(mid, deep, 3, 2), nn.ReLU(), *[Residual(deep) for _ in range(4)])
            self.up1, self.up2 = nn.Conv2d(deep, mid, 1), nn.Conv2d(mid, fine, 1)
            self.join1, self.join2 = Residual(mid), Residual(fine)
            self.out = nn.Conv2d(fine, 4 * MAPS, 1)
            with torch.no_grad():
                self.out.bias[:12] = -4.0

        def forward(self, x):
            fine = self.stem(x)
            mid = self.mid(fine)
            double = nn.functional.interpolate
            mid = self.join1(mid + double(self.up1(self.deep(mid)), scale_factor=2.0, mode="nearest"))
            return self.out(self.join2(fine + double(self.up2(mid), scale_factor=2.0, mode="nearest")))

    return Net()


def loss_of(torch, raw, target, weight, mask):
    """The loss, its four parts, and what each sample adds to the loss of the centres."""
    order = [0, 2]
    p = torch.sigmoid(raw[:, order]).clamp(1e-4, 1 - 1e-4)
    goal, count = target[:, order], weight[:, order]
    hit = (goal > 0.999).float()
    gain = hit * (1 - p) ** 2 * torch.log(p) + (1 - hit) * (1 - goal) ** 4 * p**2 * torch.log(1 - p)
    each = -(gain * count).sum(dim=(2, 3))
    heat = each.sum(dim=0) / hit.sum(dim=(0, 2, 3)).clamp(min=1)
    piece = torch.nn.functional.binary_cross_entropy_with_logits(raw[:, 1], target[:, 1], weight[:, 1])
    away = ((raw[:, 3:] - target[:, 3:]).abs() * mask).sum() / mask.sum().clamp(min=1)
    total = heat[0] + 0.3 * heat[1] + 2.0 * piece + 0.5 * away
    return total, [float(v.detach()) for v in (heat[0], piece, heat[1], away)], each[:, 0].detach().tolist()


# ---- training -------------------------------------------------------------------------------------------------------


def train(args):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    net = build_net(torch)
    if args.start:
        net.load_state_dict(torch.load(args.start))
    net = net.to(memory_format=torch.channels_last)
    print(sum(p.numel() for p in net.parameters()), "parameters", flush=True)
    while not any(any(folder.glob("table*.npz")) for folder in args.data):
        time.sleep(2)
    net.load_state_dict(run_training(torch, net, Crops(args.data), rng, args, loss_of))
    export(torch, net, args.onnx)


def run_training(torch, net, crops, rng, args, loss_of):
    """AdamW on a one-hump rate by the clock, bfloat16 where it is safe; gives the running mean of the weights.

    `loss_of` gives the loss, its parts, and what each sample adds.
    """
    best = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=1e-4)
    mean = {k: v.clone() for k, v in net.state_dict().items()}
    begin, step, shown = time.time(), 0, 0.0
    while (spent := (time.time() - begin) / 60 / args.minutes) < 1:
        for group in best.param_groups:
            group["lr"] = args.rate * min(1.0, (step + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * spent))
        chosen, arrays = crops.draw(rng, 16)
        x, target, weight, mask = (torch.from_numpy(a) for a in arrays)
        with torch.autocast("cpu", torch.bfloat16):
            raw = net(x.to(memory_format=torch.channels_last))
        loss, parts, each = loss_of(torch, torch.nn.functional.pixel_shuffle(raw.float(), 2), target, weight, mask)
        best.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        best.step()
        step += 1
        crops.note(chosen, each)
        blend(torch, mean, net, min(0.999, step / (step + 20)))
        shown = shown * 0.99 + np.array(parts) * 0.01
        if step % 200 == 0:
            crops.look()
            print(step, f"{spent:.2f}", len(crops.known), np.round(shown, 4), flush=True)
            torch.save(mean, args.onnx.with_suffix(".pt") if args.keep is None else args.keep)
    return mean


def blend(torch, mean, net, share):
    with torch.no_grad():
        for name, value in net.state_dict().items():
            if value.dtype.is_floating_point:
                mean[name].lerp_(value, 1 - share)
            else:
                mean[name].copy_(value)


def export(torch, net, path):
    """Write the net for (picture, empty picture), both as (value - 128) / SPREAD, and only the maps that are read."""
    net = net.eval().float()
    with torch.no_grad():
        first, last = net.stem[0][0], net.out
        now, change = first.weight[:, :3], first.weight[:, 3:]
        first.weight.copy_(torch.cat([now + change, -change], dim=1))
        net.out = torch.nn.Conv2d(WIDTHS[0], 4 * KEPT, 1)
        net.out.weight.copy_(last.weight[: 4 * KEPT])
        net.out.bias.copy_(last.bias[: 4 * KEPT])
    axes = {"pictures": {2: "rows", 3: "columns"}, "maps": {2: "rows4", 3: "columns4"}}
    torch.onnx.export(net, (torch.zeros(1, 6, 64, 64),), str(path), input_names=["pictures"], output_names=["maps"],
                      dynamic_axes=axes, opset_version=13, dynamo=False)  # fmt: skip


def write(args):
    import torch

    net = build_net(torch)
    net.load_state_dict(torch.load(args.start))
    export(torch, net, args.onnx)


# ---- measuring ------------------------------------------------------------------------------------------------------


def peaks(heat, least, window=5):
    """Values (n,) of the local tops of a map."""
    return heat[(heat >= cv2.dilate(heat, np.ones((window, window), np.uint8))) & (heat >= least)]


def measure(args):
    from vision import net

    net.GNOMES = str(args.onnx.resolve())
    rows, spent = [], 0.0
    for path in sorted(p for folder in args.data for p in folder.glob("check*.npz")):
        with np.load(path) as file:
            parts = dict(file)
        for i in range(1, SHAKES + 1):
            picture, empty = (scaled(parts[f"{k}_{i}"], args.px / DRAWN_PX) for k in "pe")
            pieces, shape = parts[f"t_{i}"], parts[f"p_{i}"].shape
            inside = (pieces[:, :2] > 0).all(1) & (pieces[:, 0] < shape[1]) & (pieces[:, 1] < shape[0])
            if not inside.all() or (pieces[:, 4] < 0.25).any():
                continue
            begin = time.thread_time()
            centres = [net.see(picture, e).centre for e in (empty, picture)]
            spent += time.thread_time() - begin
            rows.append((len(pieces), *(peaks(1 / (1 + np.exp(-c)), 0.05) for c in centres)))
    print(f"{1000 * spent / 2 / len(rows):.1f} ms of CPU a picture, preparation included")
    report(rows)


def report(rows):
    truth = np.array([r[0] for r in rows])
    for name, k in (("with the empty picture", 1), ("without", 2)):
        for least in (0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
            wrong = np.array([(r[k] >= least).sum() for r in rows]) - truth
            many = truth >= 13
            few = f"13 and more {np.mean(wrong[many] == 0):.1%} of {many.sum()}"
            right, error = np.mean(wrong == 0), np.abs(wrong).mean()
            print(f"{name}, threshold {least}: {right:.1%} of {len(rows)}, error {error:.3f}, {few}", flush=True)


def main():
    cv2.setNumThreads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("train", train), ("write", write), ("measure", measure)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name != "write":
            command.add_argument("data", type=Path, nargs="+")
        command.add_argument("onnx", type=Path)
        if name == "train":
            command.add_argument("--minutes", type=float, default=85.0)
            command.add_argument("--rate", type=float, default=2e-3)
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--keep", type=Path, help="where to keep the weights")
        if name == "measure":
            command.add_argument("--px", type=float, default=READ_PX, help="a lying gnome's length")
        else:
            command.add_argument("--start", type=Path, required=name == "write", help="weights to go on from")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
