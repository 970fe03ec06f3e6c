"""Internal. The REST API of jobs, with Flink's paths and answers.

It knows a job by its :class:`~wiesel.rest.gateway.JobGateway` alone: the engine implements one for the job of its process, and whoever
serves several jobs can implement others.
"""
