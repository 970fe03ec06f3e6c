"""Internal. The settings of a job, as JSON of the form that Flink's REST API has."""

from __future__ import annotations

from typing import Any

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.parallelism import default_parallelism
from wiesel.engine.base import duration_ms
from wiesel.engine.job_master import JobMaster


def of_job(master: JobMaster) -> dict[str, Any]:
    """``/jobs/:jobid/config``: execution settings of the job, and the user's parameters."""
    config = _configuration(master)
    parameters = config.get(opt.GLOBAL_JOB_PARAMETERS)
    return {
        "jid": master.job_id,
        "name": master.plan.graph.job.job_name,
        "execution-config": {
            "execution-mode": master.plan.graph.job.runtime_mode,
            "restart-strategy": config.get(opt.RESTART_STRATEGY) or "default",
            "job-parallelism": default_parallelism(config),
            "object-reuse-mode": config.get(opt.OBJECT_REUSE),
            "user-config": parameters or {},
        },
    }


def of_checkpoints(master: JobMaster) -> dict[str, Any]:
    """``/jobs/:jobid/checkpoints/config``."""
    config, settings = _configuration(master), master.settings
    return {
        "mode": str(config.get(opt.CHECKPOINT_MODE)).lower(),
        # Flink reports no interval as the largest one.
        "interval": 2**63 - 1 if settings.checkpoints.interval_ms is None else settings.checkpoints.interval_ms,
        "timeout": settings.checkpoints.timeout_ms,
        "min_pause": settings.checkpoints.min_pause_ms,
        "max_concurrent": config.get(opt.CHECKPOINT_MAX_CONCURRENT),
        "externalization": {
            "enabled": str(config.get(opt.CHECKPOINT_RETENTION)) != "NO_EXTERNALIZED_CHECKPOINTS",
            "delete_on_cancellation": not settings.retain_on_cancellation,
        },
        "state_backend": config.get(opt.STATE_BACKEND),
        "checkpoint_storage": settings.checkpoint_dir or "jobmanager",
        "unaligned_checkpoints": config.get(opt.CHECKPOINT_UNALIGNED),
        "aligned_checkpoint_timeout": duration_ms(config, opt.CHECKPOINT_ALIGNED_TIMEOUT),
        "tolerable_failed_checkpoints": settings.checkpoints.tolerable_failures,
    }


def of_cluster(master: JobMaster) -> list[dict[str, str]]:
    """``/jobs/:jobid/jobmanager/config``: all options that the program, the command line or the files have set."""
    return [{"key": key, "value": value} for key, value in sorted(_configuration(master)._shown())]


def _configuration(master: JobMaster) -> Configuration:
    return Configuration.from_dict(master.plan.graph.job.config)
