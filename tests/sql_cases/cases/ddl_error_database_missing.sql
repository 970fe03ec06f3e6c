USE nowhere;
