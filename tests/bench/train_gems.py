"""Train the gem net on simulated tables and write it as one ONNX file.

Needs torch and onnx beside the product's own numpy and opencv-python, in a venv of their own; nothing in the product
imports them. One thread each; `make` and `train` may run at the same time, training then waits for the first tables.

    python -m tests.bench.train_gems make DATA --tables 400 --seed 1          about 2 s of one core a table
    python -m tests.bench.train_gems train DATA vision/data/gems.onnx --minutes 20 --seed 1

A table gives its palette picture and SHOTS others, at the scale where a gem is about ACROSS_PX wide, as crops of
CROP x CROP px around gems and around nothing.
"""

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np

from companion.simulated.gems import COLOURS, Bump, draw_gem_table, palette_row, render, strew
from tests.bench.train_gnomes import channels, recoloured, run_training, stamp, window

ACROSS_PX = 20.0  # a gem's width in what the net is trained on
SIZE_PX = (800, 600)
CROP = 128
SIDE = 96  # of a training sample
SHOTS = 5
MOST = 40
KINDS = ("pile", "pile", "row", "spread")
WIDTHS = (16, 32, 48)  # the net's channels at 1/4, 1/8 and 1/16 of the picture
OFFSET_PX = 8.0  # the net's offsets are in this unit
SEEN_LEAST = 0.2  # of a gem's usual area: less is not asked for


# ---- data -----------------------------------------------------------------------------------------------------------


def draw_shot(table, rng):
    """Any picture of play: 0 to 24 gems, now and then some more, the camera knocked in some."""
    total = int(rng.integers(0, 25) if rng.random() < 0.85 else rng.integers(20, 34))
    odds = rng.dirichlet(np.full(len(COLOURS), 1.5))
    counts = dict(zip(COLOURS, (int(n) for n in rng.multinomial(total, odds)), strict=True))
    gems = strew(table, counts, rng, str(rng.choice(KINDS)))
    bump = Bump(float(rng.uniform(0, 7)), 1.0) if rng.random() < 0.4 else None
    return render(table, gems, rng, flicker=0.06, drift=0.02, bump=bump)


def registered(empty, shot, rng):
    """The empty picture moved under the shot, with the small error that registration leaves."""
    error = np.eye(3)
    error[:2, 2] = rng.normal(0, 1.5 if rng.random() < 0.1 else 0.4, 2)
    return cv2.warpPerspective(empty, error @ shot.bumped, empty.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)


def crops_of(shot, empty, scale, rng, n):
    """Crops (picture, empty picture, owners at half size, gems as centre and shown share) at the net's scale."""
    truth = shot.truth
    parts = [cv2.resize(i, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) for i in (shot.picture, empty)]
    owners = cv2.resize(truth.owners, parts[0].shape[1::-1], interpolation=cv2.INTER_NEAREST)
    usual = np.median(truth.visible_px[truth.visible_px > 0]) if truth.visible_px.any() else 1.0
    places = (truth.centres_px + 0.5) * scale - 0.5
    gems = np.full((MOST, 3), -1000.0, np.float32)
    gems[: len(places), :2], gems[: len(places), 2] = places, truth.visible_px / usual
    for _ in range(n):
        at = rng.uniform((0, 0), parts[0].shape[1::-1])
        if len(places) and rng.random() < 0.85:
            at = places[rng.integers(len(places))] + rng.normal(0, 12, 2)
        yield crop_at(parts, owners, gems, at)


def crop_at(parts, owners, gems, at):
    """A square around a point; outside the picture it is mirrored and marked 255 in the owners."""
    left, top = (int(v) - CROP // 2 for v in at)
    pad = CROP
    cut = np.s_[max(top + pad, 0) : top + pad + CROP, max(left + pad, 0) : left + pad + CROP]
    sides = [cv2.copyMakeBorder(i, pad, pad, pad, pad, cv2.BORDER_REFLECT_101)[cut] for i in parts]
    marks = np.where(owners < 0, 0, owners + 1).astype(np.uint8)
    marks = cv2.copyMakeBorder(marks, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=255)[cut][::2, ::2]
    return *sides, marks, gems - np.float32([left, top, 0])


def make(args):
    args.data.mkdir(parents=True, exist_ok=True)
    for seed in range(args.seed, args.seed + args.tables):
        path = args.data / f"table{seed:07d}.npz"
        if path.exists():
            continue
        rng = np.random.default_rng([seed, 84])
        table = draw_gem_table(seed, SIZE_PX)
        empty = render(table, [], rng).picture
        scale = ACROSS_PX / (table.camera.px_per_mm * 2 * table.cut.radius_mm)
        shots = [render(table, palette_row(table, rng), rng), *(draw_shot(table, rng) for _ in range(SHOTS))]
        crops = []
        for i, shot in enumerate(shots):
            about = scale * math.exp(rng.normal(0, 0.08))
            crops += crops_of(shot, registered(empty, shot, rng), about, rng, 9 if i else 3)
        whole = [crop for crop in crops if crop[0].shape == (CROP, CROP, 3)]
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, **dict(zip("peog", (np.stack(part) for part in zip(*whole, strict=True)), strict=True)))
        path.with_suffix(".part").rename(path)


# ---- samples --------------------------------------------------------------------------------------------------------


class Crops:
    """All crops made so far, read again while `make` is still at work; hard ones come more often."""

    def __init__(self, folder):
        self.folder, self.known, self.crops, self.losses = folder, set(), [], []
        self.look()

    def look(self):
        for path in sorted(self.folder.glob("table*.npz")):
            if path not in self.known:
                self.known.add(path)
                with np.load(path) as file:
                    crops = list(zip(*(file[k] for k in "peog"), strict=True))
                self.crops += crops
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


def sample(picture, empty, owners, gems, rng):
    """One augmented sample: channels, targets (4, SIDE / 2, SIDE / 2), where errors count, where offsets do."""
    left, top = (2 * rng.integers(0, (CROP - SIDE) // 2 + 1, 2)).tolist()
    pictures = [i[top : top + SIDE, left : left + SIDE] for i in (picture, empty)]
    owners = owners[top // 2 : (top + SIDE) // 2, left // 2 : (left + SIDE) // 2]
    parts = targets(owners, gems - np.float32([left, top, 0]))
    return turned(recoloured(channels(*pictures), rng), *parts, rng)


def targets(owners, gems):
    """Maps of centres, gems and offsets at half size; where errors count; where offsets are known."""
    h, w = owners.shape
    target, weight = np.zeros((4, h, w), np.float32), np.ones((2, h, w), np.float32)
    weight[:, owners == 255] = 0
    body = (owners > 0) & (owners < 255)
    target[1] = body
    spots = (gems[:, :2] - 0.5) / 2
    for (x, y), share in zip(spots.tolist(), gems[:, 2].tolist(), strict=True):
        if not (-6 < x < w + 6 and -6 < y < h + 6):
            continue
        if share >= SEEN_LEAST:
            stamp(target[0], x, y)
        elif share > 0.02:
            np.copyto(window(weight[0], x, y, 2), 0.0)
    number = np.where(body, owners - 1, MOST - 1).astype(np.intp)
    target[2] = (spots[:, 0].astype(np.float32)[number] - np.arange(w, dtype=np.float32)) * (2 / OFFSET_PX)
    target[3] = (spots[:, 1].astype(np.float32)[number] - np.arange(h, dtype=np.float32)[:, None]) * (2 / OFFSET_PX)
    return target, weight, body.astype(np.float32)[None]


def turned(data, target, weight, mask, rng):
    """Mirrored and turned by quarters, the offsets too."""
    if rng.random() < 0.5:
        data, target, weight, mask = (a[..., ::-1] for a in (data, target, weight, mask))
        target = target * np.float32([1, 1, -1, 1])[:, None, None]
    for _ in range(rng.integers(4)):
        data, target, weight, mask = (np.rot90(a, 1, (-2, -1)) for a in (data, target, weight, mask))
        target = np.stack([target[0], target[1], target[3], -target[2]])
    return tuple(np.ascontiguousarray(a) for a in (data, target, weight, mask))


# ---- the net --------------------------------------------------------------------------------------------------------


def build_net(torch):
    nn = torch.nn

    def conv(a, b, size=3, stride=1):
        return nn.Sequential(nn.Conv2d(a, b, size, stride, size // 2, bias=False), nn.BatchNorm2d(b))

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
            self.stem = nn.Sequential(conv(6, 12, 3, 2), nn.ReLU(), conv(12, fine, 3, 2), nn.ReLU(), Residual(fine))
            self.mid = nn.Sequential(conv(fine, mid, 3, 2), nn.ReLU(), Residual(mid), Residual(mid))
            self.deep = nn.Sequential(conv(mid, deep, 3, 2), nn.ReLU(), Residual(deep), Residual(deep))
            self.up1, self.up2 = nn.Conv2d(deep, mid, 1), nn.Conv2d(mid, fine, 1)
            self.join1, self.join2 = Residual(mid), nn.Sequential(Residual(fine), Residual(fine))
            self.out = nn.Conv2d(fine, 16, 1)
            with torch.no_grad():
                self.out.bias[:4] = -4.0

        def forward(self, x):
            fine = self.stem(x)
            mid = self.mid(fine)
            double = nn.functional.interpolate
            mid = self.join1(mid + double(self.up1(self.deep(mid)), scale_factor=2.0, mode="nearest"))
            return self.out(self.join2(fine + double(self.up2(mid), scale_factor=2.0, mode="nearest")))

    return Net()


def loss_of(torch, raw, target, weight, mask):
    """The loss, its parts, and what each sample adds to the loss of the centres."""
    p = torch.sigmoid(raw[:, 0]).clamp(1e-4, 1 - 1e-4)
    goal = target[:, 0]
    hit = (goal > 0.999).float()
    gain = hit * (1 - p) ** 2 * torch.log(p) + (1 - hit) * (1 - goal) ** 4 * p**2 * torch.log(1 - p)
    each = -(gain * weight[:, 0]).sum(dim=(1, 2))
    heat = each.sum() / hit.sum().clamp(min=1)
    part = torch.nn.functional.binary_cross_entropy_with_logits(raw[:, 1], target[:, 1], weight[:, 1])
    away = ((raw[:, 2:] - target[:, 2:]).abs() * mask).sum() / mask.sum().clamp(min=1)
    return heat + 2.0 * part + 0.5 * away, [float(v.detach()) for v in (heat, part, away)], each.detach().tolist()


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
    while not any(args.data.glob("table*.npz")):
        time.sleep(2)
    net.load_state_dict(run_training(torch, net, Crops(args.data), rng, args, loss_of))
    export(torch, net, args.onnx)


def export(torch, net, path):
    axes = {"pictures": {2: "rows", 3: "columns"}, "maps": {2: "rows4", 3: "columns4"}}
    torch.onnx.export(net.eval().float(), (torch.zeros(1, 6, 64, 64),), str(path), input_names=["pictures"],
                      output_names=["maps"], dynamic_axes=axes, opset_version=13, dynamo=False)  # fmt: skip


def write(args):
    import torch

    net = build_net(torch)
    net.load_state_dict(torch.load(args.start))
    export(torch, net, args.onnx)


def main():
    cv2.setNumThreads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("make", make), ("train", train), ("write", write)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name != "write":
            command.add_argument("data", type=Path)
            command.add_argument("--seed", type=int, default=1)
        if name == "make":
            command.add_argument("--tables", type=int, default=400)
            continue
        command.add_argument("onnx", type=Path)
        command.add_argument("--start", type=Path, required=name == "write", help="weights to go on from")
        if name == "train":
            command.add_argument("--minutes", type=float, default=20.0)
            command.add_argument("--rate", type=float, default=2e-3)
            command.add_argument("--keep", type=Path, help="where to keep the weights")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
