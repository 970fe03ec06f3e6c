"""Expressions of the Table API in Python, whose ``str()`` in real Flink is in ``goldens/expression_texts.json``.

Each is evaluated with the names of ``pyflink.table.expressions`` and ``pyflink.table.expression``, ``Decimal``, ``DataTypes``, and the
columns ``a``, ``b`` and ``c``.
"""

EXPRESSIONS = """
a == b
a != b
a < b
a <= b
a > b
a >= b
a & b
a | b
~a
a + b
a - b
a * b
a / b
a % b
a ** b
-a
abs(a)
1 + a
1 - a
2 * a
2 / a
2 % a
2 ** a
a + 1.5
a == 'x'
(a + b) * c
a.cast(DataTypes.INT())
a.cast(DataTypes.DECIMAL(10,2))
a.cast(DataTypes.STRING())
a.cast(DataTypes.ROW([DataTypes.FIELD('x',DataTypes.INT())]))
a.try_cast(DataTypes.INT())
a.alias('x')
a.alias('x','y')
a.asc
a.desc
a.exp
a.log10
a.log2
a.ln
a.log()
a.log(b)
a.cosh
a.sinh
a.sin
a.cos
a.tan
a.cot
a.asin
a.acos
a.atan
a.tanh
a.degrees
a.radians
a.sqrt
a.abs
a.sign
a.round(2)
a.bin
a.hex
a.truncate(3)
a.truncate()
a.floor()
a.ceil()
a.floor(TimeIntervalUnit.DAY)
a.ceil(TimeIntervalUnit.MONTH)
a.between(1,2)
a.not_between(1,2)
a.then(b,c)
a.if_null(b)
a.is_null
a.is_not_null
a.is_true
a.is_false
a.is_not_true
a.is_not_false
a.in_(1,2,3)
a.in_('x')
a.distinct
a.sum
a.sum0
a.min
a.max
a.count
a.avg
a.first_value
a.last_value
a.stddev_pop
a.stddev_samp
a.var_pop
a.var_samp
a.collect
a.array_agg
a.list_agg()
a.list_agg(',')
a.percentile(0.5)
a.sum.distinct
a.count.distinct
a.over('w')
a.sum.over(col('w'))
a.start
a.end
a.rowtime
a.proctime
lit(1).day
lit(2).days
lit(5).millis
lit(3).months
lit(1).year
a.substring(1)
a.substring(1,2)
a.substr(1,2)
a.trim_leading()
a.trim_trailing()
a.trim()
a.trim('x')
a.replace('x','y')
a.char_length
a.upper_case
a.lower_case
a.init_cap
a.like('x%')
a.like('x%','!')
a.similar('x')
a.position('x')
a.lpad(3,'x')
a.rpad(3,'x')
a.overlay('x',1)
a.overlay('x',1,2)
a.regexp('x')
a.regexp_replace('x','y')
a.regexp_extract('x')
a.regexp_extract('x',1)
a.from_base64
a.to_base64
a.ascii
a.chr
a.decode('utf8')
a.encode('utf8')
a.left(1)
a.right(1)
a.instr('x')
a.locate('x')
a.locate('x',1)
a.parse_url('HOST')
a.parse_url('HOST','x')
a.ltrim()
a.rtrim()
a.ltrim('x')
a.rtrim('x')
a.btrim()
a.repeat(2)
a.reverse
a.split_index(',',1)
a.str_to_map()
a.str_to_map(',','=')
a.elt(b)
a.printf(b)
a.translate('a','b')
a.regexp_count('x')
a.regexp_extract_all('x')
a.regexp_instr('x')
a.regexp_substr('x')
a.url_encode()
a.url_decode()
a.split(',')
a.to_date
a.to_time
a.to_timestamp
a.extract(TimeIntervalUnit.DAY)
a.get('x')
a.flatten
a.at(1)
a[1]
a.at('k')
a.cardinality
a.element
a.array_append(1)
a.array_contains(1)
a.array_position(1)
a.array_prepend(1)
a.array_remove(1)
a.array_union(b)
a.array_max()
a.array_min()
a.array_except(b)
a.array_intersect(b)
a.map_entries
a.map_keys
a.map_values
a.sha2(256)
a.md5
a.sha1
a.is_json()
a.is_json(JsonType.SCALAR)
a.json_exists('$.x')
a.json_exists('$.x',JsonExistsOnError.TRUE)
a.json_value('$.x')
a.json_value('$.x',DataTypes.INT())
a.json_query('$.x')
a.json_quote()
a.json_unquote()
lit(1)
lit('x')
lit(1.5)
lit(True)
lit(Decimal('1.50'))
lit("it's")
lit(10**12)
lit(1, DataTypes.INT().not_null())
null_of(DataTypes.INT())
col('x y')
range_('a','b')
with_columns(a,b)
without_columns(a)
and_(a,b,c)
or_(a,b,c)
not_(a)
current_date()
current_time()
current_timestamp()
local_time()
local_timestamp()
current_database()
current_watermark('ts')
to_date('2020-01-01')
to_date('x','y')
to_timestamp('x')
to_timestamp('x','y')
to_timestamp_ltz(1,3)
to_timestamp_ltz(a,b)
temporal_overlaps(a,b,c,a)
date_format(a,'yyyy')
timestamp_diff(TimePointUnit.DAY,a,b)
convert_tz('x','UTC','UTC')
from_unixtime(1)
from_unixtime(1,'x')
unix_timestamp()
unix_timestamp('x')
array(1,2)
array(a,b)
row(1,'x')
map_('a',1)
row_interval(2)
pi()
e()
rand()
rand(1)
rand_integer(1)
rand_integer(1,2)
atan2(a,b)
negative(a)
concat(a,'x')
concat_ws(',',a,b)
uuid()
log(a)
log(2,a)
source_watermark()
if_then_else(a,b,c)
json_string(a)
call_sql('a + 1')
call('foo',a)
call('UPPER',a)
UNBOUNDED_ROW
UNBOUNDED_RANGE
CURRENT_ROW
CURRENT_RANGE
a.sum + b
(a == 1).then('x','y')
(a > 1) & (b < 2)
a.x
(a + 1).alias('z').desc
a.cast(DataTypes.INT()).sum.over('w')
a.is_null & ~b
-(a+b)
lag(a)
lead(a,1)
a.hash
a.unhex
json_object_agg(JsonOnNull.NULL, a, b)
json_array_agg(JsonOnNull.NULL, a)
a.sum.distinct.over(col('w'))
a.in_(b, 1)
lit(-1)
lit(2).hours
(a + b).is_null
array(row(1, 'x'), row(2, 'y'))
a.alias('x').sum
""".strip().splitlines()
