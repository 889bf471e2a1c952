"""Fit what tells the shapes of pieces apart, on rendered mats (`draw_mats.py`), and measure it on others.

python -m tests.bench.fit_what fit vision/data/shapes.npz vision/data/names.npz --pictures 520
python -m tests.bench.fit_what measure --pictures 200 --seed 900000
"""

import argparse
from collections import Counter
from pathlib import Path

import cv2
import numpy as np

from tests.bench.draw_mats import draw_mat
from tests.bench.scores import Answer, Score, reliability
from vision import names, pieces_find, pieces_odds, what, what_shape
from vision.errors import PictureRefused
from vision.stored import save_npz

HIDDEN = 24
ROUNDS = 1500
RATE = 0.01
DECAY = 2e-3
LEAST_SPREAD = 4.0  # CIELAB: what paints differ by beyond those rendered
KEPT = 0.9


def seen(seed):
    """Shape, colour, close view of the piece in the middle and the mat's colour, or nothing where none is found."""
    mat = draw_mat(seed, pieces=1)
    found = pieces_find.find(mat.picture)[0]
    chances = pieces_odds.chances(found)
    best = found.candidates[int(np.argmax(chances))] if chances else None
    close = best and pieces_find.closer(mat.picture, best)
    return close and (mat.shape, mat.colour, close, found.ground)


def fit(args):
    samples = [s for s in (seen(args.seed * 1_000_000 + i) for i in range(args.pictures)) if s]
    fit_shapes(samples, args.shapes, args.seed)
    fit_names(samples, args.names)
    print(len(samples), "of", args.pictures, "pieces found")


def fit_shapes(samples, path, seed):
    values = np.stack([what_shape.features(close.mask, close.picture) for _, _, close, _ in samples])
    truth = np.array([what_shape.SHAPES.index(shape) for shape, *_ in samples])
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-6
    rng = np.random.default_rng(seed)
    inputs = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    weights = [rng.normal(0, 0.3, (inputs.shape[1], HIDDEN)), rng.normal(0, 0.3, (HIDDEN + 1, len(what_shape.SHAPES)))]
    learn(inputs, truth, weights)
    save_npz(path, {"mean": mean, "spread": spread, "first": weights[0].astype(np.float32),
                    "second": weights[1].astype(np.float32)}, what_shape.FORMAT)  # fmt: skip


def fit_names(samples, path):
    """A bell for each name, its spread half its own and half all names', without the farthest tenth."""
    groups = {name: [] for name in names.NAMES}
    for _, colour, close, ground in samples:
        groups[colour].append(names.under(*what.lit(close, ground)))
    kept = {name: nearest(np.array(group)) for name, group in groups.items()}
    usual = np.mean([np.cov(group.T) for group in kept.values()], axis=0)
    spreads = [0.5 * np.cov(group.T) + 0.5 * usual + LEAST_SPREAD**2 * np.eye(3) for group in kept.values()]
    save_npz(path, {"names": np.array(list(kept)), "means": np.array([g.mean(axis=0) for g in kept.values()]),
                    "spreads": np.array(spreads)}, names.FORMAT)  # fmt: skip


def nearest(group):
    away = np.linalg.norm(group - np.median(group, axis=0), axis=1)
    return group[away <= np.quantile(away, KEPT)]


def learn(inputs, truth, weights):
    """Adam on the cross entropy of a layer of HIDDEN."""
    moments = [[np.zeros_like(w), np.zeros_like(w)] for w in weights]
    wanted = np.eye(weights[1].shape[1])[truth]
    for step in range(1, ROUNDS + 1):
        hidden = np.tanh(inputs @ weights[0])
        wide = np.column_stack([hidden, np.ones(len(hidden))])
        scores = wide @ weights[1]
        chance = np.exp(scores - scores.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        wrong = (chance - wanted) / len(truth)
        back = (wrong @ weights[1][:-1].T) * (1 - hidden**2)
        for weight, slope, (first, second) in zip(weights, (inputs.T @ back, wide.T @ wrong), moments, strict=True):
            slope = slope + DECAY * weight / len(weights)
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            weight -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)


def measure(args):
    colours, shapes, refused, missed = Score(), Score(), Counter(), Counter()
    for i in range(args.pictures):
        mat = draw_mat(args.seed + i)
        try:
            said = what.name(mat.picture)
        except PictureRefused as error:
            refused[error.code] += 1
            continue
        colours.answers.append(Answer(str(i), said.colour == mat.colour, 0, said.colour_confidence, 0))
        shapes.answers.append(Answer(str(i), said.shape == mat.shape, 0, said.shape_confidence, 0))
        for truth, found in ((mat.colour, said.colour), (mat.shape, said.shape)):
            missed[f"{truth}>{found}"] += truth != found
    for name, score in (("colour", colours), ("shape", shapes)):
        print(score.line(name), *reliability(score), sep="\n  ")
    print("refused", dict(refused), "missed", missed.most_common(24))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run in (("fit", fit), ("measure", measure)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name == "fit":
            command.add_argument("shapes", type=Path)
            command.add_argument("names", type=Path)
        command.add_argument("--pictures", type=int, default=300)
        command.add_argument("--seed", type=int, default=900000 if name == "measure" else 1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    args.run(args)


if __name__ == "__main__":
    main()
