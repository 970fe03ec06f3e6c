"""Internal. Row count estimates of relations from statistics, and costs of computing them."""
