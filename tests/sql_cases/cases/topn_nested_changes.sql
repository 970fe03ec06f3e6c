-- uses: nested_changes
-- modes: streaming
SELECT id, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY r ORDER BY id) AS n FROM nested_changes) WHERE n = 1;
SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY m ORDER BY id DESC) AS n FROM nested_changes) WHERE n = 1;
