"""Metrics that functions report: ``runtime_context.get_metrics_group().counter("seen")``."""

from wiesel.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
