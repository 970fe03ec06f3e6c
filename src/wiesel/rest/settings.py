"""Internal. The settings of a job, as JSON of the form that Flink's REST API has."""

from __future__ import annotations

from typing import Any

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.durations import to_millis
from wiesel.core.parallelism import default_parallelism
from wiesel.rest.views import JobView


def of_job(job: JobView) -> dict[str, Any]:
    """``/jobs/:jobid/config``: execution settings of the job, and the user's parameters."""
    config = _configuration(job)
    parameters = config.get(opt.GLOBAL_JOB_PARAMETERS)
    return {
        "jid": job.job_id,
        "name": job.name,
        "execution-config": {
            "execution-mode": job.runtime_mode,
            "restart-strategy": config.get(opt.RESTART_STRATEGY) or "default",
            "job-parallelism": default_parallelism(config),
            "object-reuse-mode": config.get(opt.OBJECT_REUSE),
            "user-config": parameters or {},
        },
    }


def of_checkpoints(job: JobView) -> dict[str, Any]:
    """``/jobs/:jobid/checkpoints/config``."""
    config, given = _configuration(job), job.checkpoints
    return {
        "mode": str(config.get(opt.CHECKPOINT_MODE)).lower(),
        # Flink reports no interval as the largest one.
        "interval": 2**63 - 1 if given.settings.interval_ms is None else given.settings.interval_ms,
        "timeout": given.settings.timeout_ms,
        "min_pause": given.settings.min_pause_ms,
        "max_concurrent": config.get(opt.CHECKPOINT_MAX_CONCURRENT),
        "externalization": {
            "enabled": str(config.get(opt.CHECKPOINT_RETENTION)) != "NO_EXTERNALIZED_CHECKPOINTS",
            "delete_on_cancellation": not given.retain_on_cancellation,
        },
        "state_backend": config.get(opt.STATE_BACKEND),
        "checkpoint_storage": given.directory or "jobmanager",
        "unaligned_checkpoints": config.get(opt.CHECKPOINT_UNALIGNED),
        "aligned_checkpoint_timeout": to_millis(config.get(opt.CHECKPOINT_ALIGNED_TIMEOUT)),
        "tolerable_failed_checkpoints": given.settings.tolerable_failures,
    }


def of_cluster(job: JobView) -> list[dict[str, str]]:
    """``/jobs/:jobid/jobmanager/config``: all options that the program, the command line or the files have set."""
    return [{"key": key, "value": value} for key, value in sorted(_configuration(job)._shown())]


def _configuration(job: JobView) -> Configuration:
    return Configuration.from_dict(dict(job.config))
