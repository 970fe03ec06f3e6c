"""Internal. The engine on Spark: one pipelined Spark job per region and attempt. The only place that imports pyspark."""
