import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;

/** Writes what Hive 3's murmur_hash returns for some calls. */
public class HiveMurmurHash {
    private static final ObjectInspector TEXT = PrimitiveObjectInspectorFactory.javaStringObjectInspector;
    private static final ObjectInspector INT = PrimitiveObjectInspectorFactory.javaIntObjectInspector;

    private static void show(String call, List<ObjectInspector> kinds, Object... values) {
        int hash = ObjectInspectorUtils.getBucketHashCode(values, kinds.toArray(new ObjectInspector[0]));
        System.out.println(call + "\t" + hash);
    }

    public static void main(String[] arguments) {
        ObjectInspector truth = PrimitiveObjectInspectorFactory.javaBooleanObjectInspector;
        show("murmur_hash('a')", List.of(TEXT), "a");
        show("murmur_hash('facebook', 'h\u00e9llo')", List.of(TEXT, TEXT), "facebook", "h\u00e9llo");
        show("murmur_hash('')", List.of(TEXT), "");
        show("murmur_hash(1)", List.of(INT), 1);
        show("murmur_hash(-7, 'abcde')", List.of(INT, TEXT), -7, "abcde");
        show("murmur_hash(CAST(5000000000 AS BIGINT))", List.of(PrimitiveObjectInspectorFactory.javaLongObjectInspector), 5000000000L);
        show("murmur_hash(CAST(1.5 AS DOUBLE))", List.of(PrimitiveObjectInspectorFactory.javaDoubleObjectInspector), 1.5d);
        show("murmur_hash(CAST(1.5 AS FLOAT))", List.of(PrimitiveObjectInspectorFactory.javaFloatObjectInspector), 1.5f);
        show("murmur_hash(TRUE, FALSE)", List.of(truth, truth), true, false);
        show("murmur_hash(CAST(3 AS TINYINT))", List.of(PrimitiveObjectInspectorFactory.javaByteObjectInspector), (byte) 3);
        show("murmur_hash(CAST(300 AS SMALLINT))", List.of(PrimitiveObjectInspectorFactory.javaShortObjectInspector), (short) 300);
        show("murmur_hash(CAST(NULL AS INT), 2)", List.of(INT, INT), null, 2);
        show("murmur_hash(X'0102FF')", List.of(PrimitiveObjectInspectorFactory.javaByteArrayObjectInspector), new byte[] {1, 2, (byte) 255});
        show("murmur_hash(ARRAY[1, 2])", List.of(ObjectInspectorFactory.getStandardListObjectInspector(INT)), Arrays.asList(1, 2));
        show("murmur_hash(MAP['k', 5])", List.of(ObjectInspectorFactory.getStandardMapObjectInspector(TEXT, INT)), Map.of("k", 5));
        ObjectInspector row = ObjectInspectorFactory.getStandardStructObjectInspector(List.of("a", "b"), List.of(INT, TEXT));
        show("murmur_hash(ROW(1, 'x'))", List.of(row), Arrays.asList(1, "x"));
    }
}
