"""Fit what tells the shapes of pieces apart, on rendered mats (`draw_mats.py`), and measure it on others.

python -m tests.bench.fit_what fit vision/data/shapes.npz --pictures 1500 --seed 1
python -m tests.bench.fit_what measure --pictures 300 --seed 900001
"""

import argparse
from collections import Counter
from pathlib import Path

import cv2
import numpy as np

from tests.bench.draw_mats import draw_mat
from tests.bench.scores import Answer, Score, reliability
from vision import pieces_find, what, what_shape
from vision.errors import PictureRefused
from vision.stored import save_npz

HIDDEN = 24
ROUNDS = 1500
RATE = 0.01
DECAY = 2e-3


def seen(seed):
    """The features and shape of the piece in the middle, or nothing where it is not found."""
    mat = draw_mat(seed, pieces=1)
    found = pieces_find.find(mat.picture)[0]
    best = max(found.candidates, key=lambda c: c.height, default=None)
    close = best and pieces_find.closer(mat.picture, best)
    return close and (what_shape.features(close.mask, close.picture), what_shape.SHAPES.index(mat.shape))


def fit(args):
    samples = [s for s in (seen(args.seed * 1_000_000 + i) for i in range(args.pictures)) if s]
    values, truth = np.stack([s[0] for s in samples]), np.array([s[1] for s in samples])
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-6
    rng = np.random.default_rng(args.seed)
    inputs = np.column_stack([(values - mean) / spread, np.ones(len(values))])
    weights = [rng.normal(0, 0.3, (inputs.shape[1], HIDDEN)), rng.normal(0, 0.3, (HIDDEN + 1, len(what_shape.SHAPES)))]
    learn(inputs, truth, weights)
    save_npz(args.numbers, {"mean": mean, "spread": spread, "first": weights[0].astype(np.float32),
                            "second": weights[1].astype(np.float32)}, what_shape.FORMAT)  # fmt: skip
    print(len(samples), "of", args.pictures, "pieces found")


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
            command.add_argument("numbers", type=Path)
        command.add_argument("--pictures", type=int, default=300)
        command.add_argument("--seed", type=int, default=900001 if name == "measure" else 1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    args.run(args)


if __name__ == "__main__":
    main()
