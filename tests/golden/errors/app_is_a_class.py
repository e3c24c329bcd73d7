"""A class as an app."""

import anabranch as ab


@ab.app
class Calls:
    pass
