"""Train the net of the piece reader on drawn pictures (`draw_pieces.py`) and write it as one ONNX file.

Needs torch and onnx beside the product's own numpy and opencv-python, in a venv of their own; nothing in the product
imports them. One thread each; `make` and `train` may run at the same time, training then waits for the first pictures.

    python -m tests.bench.train_pieces make DATA --scenes 16000 --seed 1       about 25 ms of one core a scene
    python -m tests.bench.train_pieces train DATA vision/data/pieces.onnx --minutes 60 --seed 1
"""

import argparse
import math
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from tests.bench.draw_pieces import draw_scene

SCENE = 192
SIDE = 160  # of the crops that are learned from
BATCH = 12
MAPS = 5  # middle, part, offset x, offset y, size
WIDTHS = (32, 48, 64, 80)  # channels at 1/4, 1/8, 1/16 and 1/32 of the picture
UNIT_PX = 16.0  # of the offsets
USUAL_PX = 32.0  # sizes are learned as the logarithm of their ratio to this
CHUNK = 250
SEEN = 0.2  # of a thing must show, or nothing is asked about it


# ---- data -----------------------------------------------------------------------------------------------------------


def make(args):
    args.data.mkdir(parents=True, exist_ok=True)
    for first in range(args.seed * 1_000_000, args.seed * 1_000_000 + args.scenes, CHUNK):
        scenes = [draw_scene(seed, (SCENE, SCENE)) for seed in range(first, first + CHUNK)]
        path = args.data / f"scenes{first:09d}.npz"
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, p=np.stack([s.picture for s in scenes]), o=np.stack([s.owners for s in scenes])[:, ::2, ::2],
                     t=np.stack([table_of(s) for s in scenes]))  # fmt: skip
        path.with_suffix(".part").rename(path)


def table_of(scene):
    """Middle, shown share and size of each thing, padded to one length; those cut by the border by what shows."""
    table = np.full((64, 4), -1000.0, np.float32)
    for i, (x, y) in enumerate(scene.middles):
        if not (0 <= x < SCENE and 0 <= y < SCENE) and (scene.owners == i).any():
            rows, columns = np.nonzero(scene.owners == i)
            x, y = columns.mean(), rows.mean()
        table[i] = x, y, scene.shown[i], scene.sizes[i]
    return table


class Scenes:
    """All scenes made so far, read again while `make` is still at work."""

    def __init__(self, folder):
        self.folder, self.known, self.parts = folder, set(), []
        self.look()

    def look(self):
        for path in sorted(self.folder.glob("scenes*.npz")):
            if path not in self.known:
                self.known.add(path)
                with np.load(path) as file:
                    self.parts.append([file[k] for k in "pot"])

    def draw(self, rng, n):
        samples = []
        for _ in range(n):
            pictures, owners, tables = self.parts[rng.integers(len(self.parts))]
            i = rng.integers(len(pictures))
            samples.append(sample(pictures[i], owners[i], tables[i], rng))
        return [np.stack(part) for part in zip(*samples, strict=True)]


def sample(picture, owners, table, rng):
    left, top = (2 * rng.integers(0, (SCENE - SIDE) // 2 + 1, 2)).tolist()
    data = (picture[top : top + SIDE, left : left + SIDE].astype(np.float32).transpose(2, 0, 1) - 128) / 64
    owners = owners[top // 2 : (top + SIDE) // 2, left // 2 : (left + SIDE) // 2]
    target, weight = targets(owners, table - np.float32([left, top, 0, 0]))
    if rng.random() < 0.2:
        data = data[rng.permutation(3)]
    data = data * np.float32(math.exp(rng.normal(0, 0.15))) + np.float32(rng.normal(0, 0.15))
    return turned(data, target, weight, rng)


def targets(owners, table):
    """Maps (5, rows, columns) to be learned, and where the middle is asked for at all."""
    side = owners.shape[0]
    target, weight = np.zeros((MAPS, side, side), np.float32), np.ones((side, side), np.float32)
    y, x = np.mgrid[:side, :side].astype(np.float32) * 2 + 0.5
    for i, (at_x, at_y, shown, size) in enumerate(table):
        mine = owners == i
        if at_x < -900 or not mine.any():
            continue
        inside = (0 <= at_x < 2 * side) and (0 <= at_y < 2 * side)
        if shown < SEEN or not inside:
            weight[mine] = 0
        if inside and shown >= SEEN:
            spread = max(2.2, 0.09 * size)
            heat = np.exp(-((x - at_x) ** 2 + (y - at_y) ** 2) / (2 * spread**2))
            heat[min(int(at_y / 2), side - 1), min(int(at_x / 2), side - 1)] = 1.0
            np.maximum(target[0], heat, out=target[0])
        target[2][mine], target[3][mine] = (at_x - x[mine]) / UNIT_PX, (at_y - y[mine]) / UNIT_PX
        target[4][mine] = math.log(max(size, 1) / USUAL_PX)
    target[1] = owners >= 0
    return target, weight


def turned(data, target, weight, rng):
    """One of the eight ways to lay a square."""
    if rng.random() < 0.5:
        data, target, weight = data[..., ::-1], target[..., ::-1].copy(), weight[..., ::-1]
        target[2] *= -1
    for _ in range(rng.integers(4)):
        data, target, weight = (np.rot90(a, axes=(-2, -1)) for a in (data, target, weight))
        target = target.copy()
        target[2], target[3] = target[3].copy(), -target[2].copy()
    return data.copy(), target.copy(), weight.copy()


# ---- the net --------------------------------------------------------------------------------------------------------


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
            a, b, c, d = WIDTHS
            self.stem = nn.Sequential(conv(3, 16, 2), conv(16, a, 2), Residual(a))
            self.down = nn.ModuleList(
                [nn.Sequential(conv(x, y, 2), Residual(y), Residual(y)) for x, y in ((a, b), (b, c), (c, d))]
            )
            self.up = nn.ModuleList([nn.Conv2d(x, y, 1) for x, y in ((d, c), (c, b), (b, a))])
            self.join = nn.ModuleList([Residual(c), Residual(b), Residual(a)])
            self.out = nn.Conv2d(a, 4 * MAPS, 1)
            with torch.no_grad():
                self.out.bias[:4] = -4.0

        def forward(self, x):
            levels = [self.stem(x)]
            for down in self.down:
                levels.append(down(levels[-1]))
            found = levels.pop()
            for up, join in zip(self.up, self.join, strict=True):
                wide = nn.functional.interpolate(up(found), scale_factor=2.0, mode="nearest")
                found = join(levels.pop() + wide)
            return self.out(found)

    return Net()


def unfolded(raw):
    n, c, h, w = raw.shape
    return raw.reshape(n, c // 4, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3).reshape(n, c // 4, 2 * h, 2 * w)


def loss_of(torch, maps, target, weight):
    """CenterNet's focal loss for the middles, cross entropy for the parts, distance for offsets and size."""
    heat = torch.sigmoid(maps[:, 0]).clamp(1e-4, 1 - 1e-4)
    peak = (target[:, 0] >= 1).float()
    near = (1 - target[:, 0]) ** 4
    rises = -torch.log(heat) * (1 - heat) ** 2 * peak
    falls = -torch.log(1 - heat) * heat**2 * near * (1 - peak)
    middle = ((rises + falls) * weight).sum() / peak.sum().clamp(min=1)
    part = torch.nn.functional.binary_cross_entropy_with_logits(maps[:, 1], target[:, 1])
    on = target[:, 1]
    away = ((maps[:, 2:4] - target[:, 2:4]).abs().sum(1) * on * weight).sum() / on.sum().clamp(min=1)
    size = ((maps[:, 4] - target[:, 4]).abs() * on * weight).sum() / on.sum().clamp(min=1)
    return middle + 2 * part + 0.5 * away + 0.5 * size, (middle, part, away, size)


# ---- training -------------------------------------------------------------------------------------------------------


def train(args):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng([args.seed, 76])
    net = build_net(torch).to(memory_format=torch.channels_last)
    if args.start:
        net.load_state_dict(torch.load(args.start))
    smooth = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.998),
                                                 use_buffers=True)  # fmt: skip
    tune = torch.optim.AdamW(net.parameters(), args.rate, weight_decay=1e-4)
    scenes, begin, step, kept, sums = Scenes(args.data), time.time(), 0, time.time(), np.zeros(5)
    while not scenes.parts:
        time.sleep(5)
        scenes.look()
    while (share := (time.time() - begin) / 60 / args.minutes) < 1:
        for group in tune.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
        data, target, weight = (torch.from_numpy(a) for a in scenes.draw(rng, BATCH))
        loss, parts = loss_of(torch, unfolded(net(data.to(memory_format=torch.channels_last))), target, weight)
        tune.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        tune.step()
        smooth.update_parameters(net)
        sums += [loss.item(), *(p.item() for p in parts)]
        step += 1
        if step % 200 == 0:
            print(step, f"{share:.2f}", np.round(sums / 200, 3), len(scenes.parts), flush=True)
            sums[:] = 0
            scenes.look()
        if time.time() - kept > 300:
            kept = time.time()
            write(torch, smooth.module, args.onnx)
    write(torch, smooth.module, args.onnx)


def write(torch, net, path):
    torch.save(net.state_dict(), path.with_suffix(".pt"))
    net.eval()
    torch.onnx.export(net, torch.zeros(1, 3, SIDE, SIDE), str(path), input_names=["picture"], output_names=["maps"],
                      dynamic_axes={"picture": {2: "h", 3: "w"}, "maps": {2: "h", 3: "w"}}, opset_version=13,
                      dynamo=False)  # fmt: skip
    net.train()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run in (("make", make), ("train", train)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("data", type=Path)
        command.add_argument("--seed", type=int, default=1)
        if name == "make":
            command.add_argument("--scenes", type=int, default=16000)
        else:
            command.add_argument("onnx", type=Path)
            command.add_argument("--minutes", type=float, default=60.0)
            command.add_argument("--rate", type=float, default=2e-3)
            command.add_argument("--start", type=Path, help="weights to go on from")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
