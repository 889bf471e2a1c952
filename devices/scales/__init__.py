"""What serial scales say: bytes in, weighings out; pure, with no port and no clock.

parser = Parser(protocol("mt-sics"))
for weighing in parser.feed(b"S S     100.00 g\\r\\n"):
    print(weighing.grams, weighing.stable)

One module a family, each with its layouts and its protocols; `registry` knows them all by name.
"""
