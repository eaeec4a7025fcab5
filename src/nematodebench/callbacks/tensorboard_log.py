"""Curves for TensorBoard. Its own library writes them, so that torch is not needed."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nematodebench.callbacks.base import RunStart, SessionStart
from nematodebench.callbacks.trackers import Tracker, description

__all__ = ["TensorBoardLog"]


class TensorBoardLog(Tracker[Any]):
    """Writes every run to a folder of its own, with a curve for each column.

    The folder is ``<task>/<brain>/seed_<session seed>/run_<number>``.
    """

    extra = "tensorboard"
    module = "tensorboard.summary.writer.event_file_writer"

    def __init__(self, folder: str | Path) -> None:
        """Nothing is written before a run begins.

        Args:
            folder: What ``tensorboard --logdir`` is given.
        """
        super().__init__()
        self.folder = Path(folder)

    def opened(self, session: SessionStart, run: RunStart) -> Any:
        """Opens the file of a run; its first entry is a text with all that the run was made from."""
        brain = "".join(one if one.isalnum() or one in "._-" else "_" for one in session.brain)
        folder = self.folder / session.task / brain / f"seed_{session.seed}" / f"run_{run.run:03d}"
        writer = self.library.EventFileWriter(str(folder))
        _add(writer, 0, [_text("run", json.dumps(description(session, run), default=str, indent=2))])
        return writer

    def write(self, handle: Any, values: Mapping[str, float], episode: int) -> None:
        """Adds one point to every curve."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        _add(handle, episode, [Summary.Value(tag=name, simple_value=value) for name, value in values.items()])

    def closed(self, handle: Any, failure: str | None) -> None:
        """Closes the file; a failure is left behind as a text."""
        if failure is not None:
            _add(handle, 0, [_text("failure", failure)])
        handle.close()


def _add(writer: Any, step: int, values: list[Any]) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))


def _text(name: str, content: str) -> Any:
    """A text as TensorBoard's page of texts shows it."""
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.compat.proto.types_pb2 import DT_STRING

    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    tensor = TensorProto(dtype=DT_STRING, string_val=[content.encode()], tensor_shape=shape)
    kind = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return Summary.Value(tag=name, metadata=kind, tensor=tensor)
