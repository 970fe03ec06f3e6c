-- modes: batch
SELECT PARSE_JSON('{"a": 1');
