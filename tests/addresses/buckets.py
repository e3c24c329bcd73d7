"""What tests do with a bucket beside Anabranch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyarrow import fs

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST",
    "AWS_SECRET_ACCESS_KEY": "THE-SECRET-OF-THE-TESTS",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass(frozen=True)
class Bucket:
    name: str
    port: int
    files: Any

    @staticmethod
    def made(port: int, name: str) -> Bucket:
        files = fs.S3FileSystem(
            access_key=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            secret_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        )
        files.create_dir(name)
        return Bucket(name, port, files)

    def address(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def put(self, key: str, content: bytes) -> str:
        with self.files.open_output_stream(f"{self.name}/{key}") as stream:
            stream.write(content)
        return self.address(key)

    def get(self, key: str) -> bytes:
        with self.files.open_input_file(f"{self.name}/{key}") as stream:
            return bytes(stream.read())

    def delete(self, key: str) -> None:
        self.files.delete_file(f"{self.name}/{key}")

    @property
    def keys(self) -> list[str]:
        found = self.files.get_file_info(fs.FileSelector(self.name, recursive=True))
        return sorted(each.path.partition("/")[2] for each in found if each.is_file)


def run_simulated(sink: Any, channels: int, stretch: int) -> None:
    """Spark's part without Spark."""
    graph = as_program(sink).graph
    run_on(Simulated(), compile(graph), Metrics(), "python", channels=channels, stretch=stretch)
