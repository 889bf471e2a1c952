"""Train the gnome net on simulated tables and write it as one ONNX file.

Needs torch and onnx beside the product's own numpy and opencv-python, in a venv of their own; nothing in the product
imports them. One thread each; `make` and `train` may run at the same time, training then waits for the first tables.

    python tests/bench/train_gnomes.py make DATA --tables 400 --seed 1        about 4 s of one core a table
    python tests/bench/train_gnomes.py make CHECK --tables 30 --seed 900101 --check
    python tests/bench/train_gnomes.py train DATA vision/data/gnomes.onnx --minutes 70 --seed 1
    python tests/bench/train_gnomes.py measure CHECK vision/data/gnomes.onnx

A table gives its calibration picture and eight shakes, each at the scale where a lying gnome at the middle of the tray
is about PIECE_PX long; crops of 192 x 192 px go into one file a table. Check tables keep whole pictures and are never
trained on.
"""

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np

from companion.simulated.pawns import Bump, apart, draw_table, render, shake

PIECE_PX = 40.0
CROP = 192
SHAKES = 8
MAPS = 5  # centre, head, piece, offset x, offset y
WIDTHS = (32, 56, 80)  # the net's channels at 1/4, 1/8 and 1/16 of the picture
OFFSET_PX = 16.0  # the net's offsets are in this unit


# ---- data ---------------------------------------------------------------------------------------------------------


def draw_count(rng):
    return int(rng.integers(10, 16) if rng.random() < 0.7 else rng.integers(0, 11))


def draw_shake(table, rng):
    names = [name for name, _ in table.palette for _ in range(5)]
    rng.shuffle(names)
    gnomes = shake(table, names[: draw_count(rng)], rng)
    bump = Bump(float(rng.uniform(0, 7)), 1.0) if rng.random() < 0.4 else None
    clutter = int(rng.choice([0, 1, 2, 3], p=[0.15, 0.15, 0.45, 0.25]))
    return render(table, gnomes, rng, clutter=clutter, flicker=0.06, bump=bump)


def registered(empty, shot, rng):
    """The empty picture moved under the shake, with the small error that registration leaves."""
    spread = 2.0 if rng.random() < 0.1 else 0.45
    error = np.eye(3)
    error[:2, 2] = rng.normal(0, spread, 2)
    size = empty.shape[1], empty.shape[0]
    return cv2.warpPerspective(empty, error @ shot.bumped, size, borderMode=cv2.BORDER_REPLICATE)


def scaled(image, scale, how=None):
    if how is None:
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)


def usual_px(truth):
    return float(np.median(truth.visible_px[truth.visible_px > 0])) if len(truth.visible_px) else 1.0


def normalised(shot, empty, scale):
    """Picture, empty picture, owners and pieces (n, 6: centre, head, shown share, number) at the net's scale."""
    truth = shot.truth
    owners = scaled(truth.owners, scale, cv2.INTER_NEAREST)
    places = [((p + 0.5) * scale - 0.5).reshape(-1, 2) for p in (truth.centres_px, truth.heads_px)]
    share = truth.visible_px / max(usual_px(truth), 1.0)
    pieces = np.concatenate([*places, share[:, None], np.arange(len(share))[:, None]], axis=1).astype(np.float32)
    return scaled(shot.picture, scale), scaled(empty, scale), owners, pieces


def crop_at(parts, x, y):
    """A CROP px square around a point; outside the picture it is mirrored and marked 255 in the owners."""
    picture, empty, owners, pieces = parts
    left, top = int(x) - CROP // 2, int(y) - CROP // 2
    pad = CROP
    wide = [cv2.copyMakeBorder(i, pad, pad, pad, pad, cv2.BORDER_REFLECT_101) for i in (picture, empty)]
    marks = np.where(owners < 0, 0, owners + 1).astype(np.uint8)
    marks = cv2.copyMakeBorder(marks, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=255)
    cut = np.s_[top + pad : top + pad + CROP, left + pad : left + pad + CROP]
    table = np.full((15, 6), -1000.0, np.float32)
    table[: len(pieces)] = pieces
    table[: len(pieces), :4] -= np.float32([left, top, left, top])
    return wide[0][cut], wide[1][cut], marks[cut][::2, ::2], table


def crops_of(parts, rng, n):
    rows, columns = parts[0].shape[:2]
    pieces = parts[3]
    for k in range(n):
        if len(pieces) and k < n - 1:
            x, y = (
                pieces[:, :2].mean(axis=0) + rng.normal(0, 24, 2) if k == 0 else pieces[rng.integers(len(pieces)), :2]
            )
        else:
            x, y = changed_place(parts, rng)
        yield crop_at(parts, np.clip(x, 20, columns - 20), np.clip(y, 20, rows - 20))


def changed_place(parts, rng):
    """A place anywhere, rather where the shake changed the picture: clutter, shadows, pieces outside the tray."""
    rows, columns = parts[0].shape[:2]
    change = cv2.boxFilter(cv2.absdiff(parts[0], parts[1]).max(axis=2).astype(np.float32), -1, (64, 64))
    places = [(rng.uniform(40, columns - 40), rng.uniform(40, rows - 40)) for _ in range(5)]
    return max(places, key=lambda p: change[int(p[1]), int(p[0])])


def table_scenes(seed, spread=0.08):
    """Eight shakes and the calibration of one table as (picture, empty, owners, pieces, scale is exact)."""
    rng = np.random.default_rng([seed, 73])
    table = draw_table(seed)
    empty = render(table, [], rng).picture
    calibration = render(table, apart(table, rng), rng, flicker=0.03)
    exact = PIECE_PX / (table.pawn.length_mm * table.camera.px_per_mm)
    for shot in [calibration, *(draw_shake(table, rng) for _ in range(SHAKES))]:
        yield normalised(shot, registered(empty, shot, rng), exact * math.exp(rng.normal(0, spread)))


def make(args):
    args.data.mkdir(parents=True, exist_ok=True)
    for seed in range(args.seed, args.seed + args.tables):
        rng = np.random.default_rng([seed, 74])
        path = args.data / f"{'check' if args.check else 'table'}{seed:07d}.npz"
        scenes = list(table_scenes(seed, 0.03 if args.check else 0.08))
        if args.check:
            flat = {f"{k}_{i}": part for i, scene in enumerate(scenes) for k, part in zip("peot", scene, strict=True)}
        else:
            crops = [c for i, scene in enumerate(scenes) for c in crops_of(scene, rng, 3 if i else 1)]
            flat = dict(zip("peot", (np.stack(part) for part in zip(*crops, strict=True)), strict=True))
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, **flat)
        path.with_suffix(".part").rename(path)


# ---- what the net reads and says ------------------------------------------------------------------------------------


def channels(picture, empty):
    """Six float32 channels (6, rows, columns): the picture, and the picture minus the empty one (zero without it)."""
    now = picture.astype(np.float32)
    change = np.zeros_like(now) if empty is None else now - empty.astype(np.float32)
    return np.concatenate([(now - 128) / 64, change / 64], axis=2).transpose(2, 0, 1)


def unfold(raw):
    """The net's output (20, h, w) as five maps (5, 2h, 2w)."""
    c, h, w = raw.shape
    return raw.reshape(c // 4, 2, 2, h, w).transpose(0, 3, 1, 4, 2).reshape(c // 4, 2 * h, 2 * w)


def run_net(net, picture, empty):
    """Maps (5, rows / 2, columns / 2) of a whole picture; centre, head and piece as probabilities, offsets in px."""
    rows, columns = picture.shape[:2]
    grown = [
        None if i is None else cv2.copyMakeBorder(i, 0, -rows % 16, 0, -columns % 16, cv2.BORDER_REFLECT_101)
        for i in (picture, empty)
    ]
    net.setInput(channels(*grown)[None])
    maps = unfold(net.forward()[0])[:, : (rows + 1) // 2, : (columns + 1) // 2]
    maps[:3] = 1 / (1 + np.exp(-maps[:3]))
    maps[3:] *= OFFSET_PX
    return maps


def peaks(heat, least, window=5):
    """Places (n, 2) as x, y in picture px and values (n,) of the local tops of a half-size map."""
    top = (heat >= cv2.dilate(heat, np.ones((window, window), np.uint8))) & (heat >= least)
    y, x = np.nonzero(top)
    return np.stack([x, y], axis=1) * 2.0 + 0.5, heat[y, x]


def measure(args):
    net = cv2.dnn.readNetFromONNX(str(args.onnx))
    rows = []
    for path in sorted(args.data.glob("check*.npz")):
        with np.load(path) as file:
            parts = dict(file)
        for i in range(1, SHAKES + 1):
            picture, empty, pieces = parts[f"p_{i}"], parts[f"e_{i}"], parts[f"t_{i}"]
            inside = (pieces[:, :2] > 0).all(1) & (pieces[:, 0] < picture.shape[1]) & (pieces[:, 1] < picture.shape[0])
            if not inside.all() or (pieces[:, 4] < 0.25).any():
                continue
            rows.append((len(pieces), *(np.sort(peaks(run_net(net, picture, e)[0], 0.05)[1]) for e in (empty, None))))
    report(rows)


def report(rows):
    truth = np.array([r[0] for r in rows])
    for name, k in (("with the empty picture", 1), ("without", 2)):
        for least in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
            wrong = np.array([(r[k] >= least).sum() for r in rows]) - truth
            many = truth >= 13
            few = f"13 and more {np.mean(wrong[many] == 0):.1%} of {many.sum()}"
            right, error = np.mean(wrong == 0), np.abs(wrong).mean()
            print(f"{name}, threshold {least}: {right:.1%} of {len(rows)}, error {error:.3f}, {few}", flush=True)


# ---- training -------------------------------------------------------------------------------------------------------


def build_net(torch):
    nn = torch.nn

    def conv(a, b, stride=1):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU())

    class Residual(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one = conv(width, width)
            self.two = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

        def forward(self, x):
            return torch.relu(x + self.two(self.one(x)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            fine, mid, deep = WIDTHS
            self.stem = nn.Sequential(conv(6, 16, 2), conv(16, fine, 2), Residual(fine))
            self.mid = nn.Sequential(conv(fine, mid, 2), Residual(mid), Residual(mid))
            self.deep = nn.Sequential(conv(mid, deep, 2), Residual(deep), Residual(deep))
            self.up1, self.up2 = nn.Conv2d(deep, mid, 1), nn.Conv2d(mid, fine, 1)
            self.join1, self.join2 = Residual(mid), Residual(fine)
            self.out = nn.Conv2d(fine, 4 * MAPS, 1)
            with torch.no_grad():
                self.out.bias[:8] = -4.0

        def forward(self, x):
            fine = self.stem(x)
            mid = self.mid(fine)
            double = nn.functional.interpolate
            mid = self.join1(mid + double(self.up1(self.deep(mid)), scale_factor=2.0, mode="nearest"))
            return self.out(self.join2(fine + double(self.up2(mid), scale_factor=2.0, mode="nearest")))

    return Net()


class Crops:
    """All crops made so far, read again while `make` is still at work."""

    def __init__(self, folder):
        self.folder, self.known, self.parts = folder, set(), []
        self.look()

    def look(self):
        for path in sorted(self.folder.glob("table*.npz")):
            if path not in self.known:
                self.known.add(path)
                with np.load(path) as file:
                    self.parts.append([file[k] for k in "peot"])

    def draw(self, rng, n, side):
        samples = []
        for _ in range(n):
            pictures, empties, owners, pieces = self.parts[rng.integers(len(self.parts))]
            i = rng.integers(len(pictures))
            samples.append(sample(pictures[i], empties[i], owners[i], pieces[i], rng, side))
        return [np.stack(part) for part in zip(*samples, strict=True)]


def sample(picture, empty, owners, pieces, rng, side):
    """One augmented crop: channels, targets (5, side / 2, side / 2), weight of centre errors, mask of the offsets."""
    left, top = (2 * rng.integers(0, (CROP - side) // 2 + 1, 2)).tolist()
    pictures = [i[top : top + side, left : left + side] for i in (picture, empty)]
    owners = owners[top // 2 : (top + side) // 2, left // 2 : (left + side) // 2]
    target, weight, mask = targets(owners, pieces - np.float32([left, top, left, top, 0, 0]))
    data = channels(pictures[0], None if rng.random() < 0.15 else pictures[1])
    data = recoloured(data, rng)
    return turned(data, target, weight, mask, rng)


def recoloured(data, rng):
    if rng.random() < 0.5:
        order = rng.permutation(3)
        data = data[np.concatenate([order, order + 3])]
    gain = math.exp(rng.normal(0, 0.12))
    data = data * np.float32(gain)
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
    """Maps of centres, heads, pieces and offsets at half size; where errors count; where offsets are known."""
    h, w = owners.shape
    y, x = np.mgrid[:h, :w].astype(np.float32)
    target, weight = np.zeros((MAPS, h, w), np.float32), np.ones((3, h, w), np.float32)
    weight[:, owners == 255] = 0
    body = (owners > 0) & (owners < 255)
    target[2] = body
    number = np.where(body, owners - 1, 14).astype(int)
    spots = (pieces - 0.5) / 2
    for i, (cx, cy, hx, hy) in enumerate(spots[:, :4]):
        share = pieces[i, 4]
        if not (-8 < cx < w + 8 and -8 < cy < h + 8) or share < 0.02:
            continue
        if share < 0.15:
            weight[0][(x - cx) ** 2 + (y - cy) ** 2 < 16] = 0
        else:
            stamp(target[0], x, y, cx, cy)
        if head_shows(owners, i, hx, hy):
            stamp(target[1], x, y, hx, hy)
    target[3] = (spots[number, 0] - x) * (2 / OFFSET_PX)
    target[4] = (spots[number, 1] - y) * (2 / OFFSET_PX)
    return target, weight, body.astype(np.float32)[None]


def head_shows(owners, i, hx, hy):
    ix, iy = round(float(hx)), round(float(hy))
    return 0 <= ix < owners.shape[1] and 0 <= iy < owners.shape[0] and owners[iy, ix] == i + 1


def stamp(heat, x, y, cx, cy):
    """A bump of one cell's width whose nearest cell is exactly 1."""
    bump = np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * 1.1**2))
    ix, iy = round(float(cx)), round(float(cy))
    if 0 <= ix < heat.shape[1] and 0 <= iy < heat.shape[0]:
        bump[iy, ix] = 1.0
    np.maximum(heat, bump, out=heat)


def loss_of(torch, raw, target, weight, mask):
    logits, offsets = raw[:, :3], raw[:, 3:]
    p = torch.sigmoid(logits[:, :2]).clamp(1e-4, 1 - 1e-4)
    goal, count = target[:, :2], weight[:, :2]
    hit = (goal > 0.999).float()
    gain = hit * (1 - p) ** 2 * torch.log(p) + (1 - hit) * (1 - goal) ** 4 * p**2 * torch.log(1 - p)
    heat = -(gain * count).sum(dim=(0, 2, 3)) / hit.sum(dim=(0, 2, 3)).clamp(min=1)
    piece = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 2], target[:, 2], weight[:, 2])
    away = ((offsets - target[:, 3:]).abs() * mask).sum() / mask.sum().clamp(min=1)
    total = heat[0] + 0.5 * heat[1] + 2.0 * piece + 0.7 * away
    return total, [float(v.detach()) for v in (heat[0], heat[1], piece, away)]


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
    while len(list(args.data.glob("table*.npz"))) < 4:
        time.sleep(2)
    keep = run_training(torch, net, Crops(args.data), rng, args)
    net.load_state_dict(keep)
    torch.save(keep, args.onnx.with_suffix(".pt") if args.keep is None else args.keep)
    export(torch, net, args.onnx)


def run_training(torch, net, crops, rng, args):
    """AdamW on a one-hump rate by the clock, bfloat16 where it is safe; gives the running mean of the weights."""
    best = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=1e-4)
    keep = {k: v.clone() for k, v in net.state_dict().items()}
    begin, step, shown = time.time(), 0, np.zeros(4)
    while (spent := (time.time() - begin) / 60 / args.minutes) < 1:
        for group in best.param_groups:
            group["lr"] = args.rate * min(1.0, (step + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * spent))
        x, target, weight, mask = (torch.from_numpy(a) for a in crops.draw(rng, 16, 128))
        with torch.autocast("cpu", torch.bfloat16):
            raw = net(x.to(memory_format=torch.channels_last))
        loss, parts = loss_of(torch, torch.nn.functional.pixel_shuffle(raw.float(), 2), target, weight, mask)
        best.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        best.step()
        step += 1
        blend(torch, keep, net, min(0.999, step / (step + 20)))
        shown = shown * 0.99 + np.array(parts) * 0.01
        if step % 200 == 0:
            crops.look()
            print(step, f"{spent:.2f}", len(crops.parts), np.round(shown, 4), flush=True)
    return keep


def blend(torch, keep, net, share):
    with torch.no_grad():
        for name, value in net.state_dict().items():
            if value.dtype.is_floating_point:
                keep[name].lerp_(value, 1 - share)
            else:
                keep[name].copy_(value)


def export(torch, net, path):
    net = net.eval().float()
    axes = {"picture": {2: "rows", 3: "columns"}, "maps": {2: "rows4", 3: "columns4"}}
    torch.onnx.export(net, (torch.zeros(1, 6, 64, 64),), str(path), input_names=["picture"], output_names=["maps"],
                      dynamic_axes=axes, opset_version=13, dynamo=False)  # fmt: skip


def main():
    cv2.setNumThreads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("make", make), ("train", train), ("measure", measure)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("data", type=Path)
        if name == "make":
            command.add_argument("--tables", type=int, default=400)
            command.add_argument("--check", action="store_true")
        else:
            command.add_argument("onnx", type=Path)
        if name == "train":
            command.add_argument("--minutes", type=float, default=70.0)
            command.add_argument("--rate", type=float, default=2e-3)
            command.add_argument("--start", type=Path, help="weights to go on from")
            command.add_argument("--keep", type=Path, help="where to keep the weights")
        command.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
