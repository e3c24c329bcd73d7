"""The commands of `anabranch`, one file each."""
