import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.Driver;
import org.apache.hadoop.hive.ql.session.SessionState;

/** Runs statements of Hive, one per line of the input, in this JVM; writes their rows, then a line that ends them. */
public class HiveQueries {
    public static void main(String[] arguments) throws Exception {
        HiveConf settings = new HiveConf();
        String folder = Files.createTempDirectory("hive").toString();
        settings.set("javax.jdo.option.ConnectionURL", "jdbc:derby:memory:metastore;create=true");
        settings.set("datanucleus.schema.autoCreateAll", "true");
        settings.set("hive.metastore.schema.verification", "false");
        settings.set("hive.metastore.warehouse.dir", folder + "/warehouse");
        settings.set("hive.exec.scratchdir", folder + "/scratch");
        settings.set("hive.exec.local.scratchdir", folder + "/local");
        settings.set("hadoop.tmp.dir", folder + "/hadoop");
        settings.set("fs.defaultFS", "file:///");
        settings.set("mapreduce.framework.name", "local");
        settings.set("hive.execution.engine", "mr");
        settings.set("hive.exec.submit.local.task.via.child", "false");
        settings.set("hive.auto.convert.join", "false");
        settings.set("hive.stats.autogather", "false");
        settings.set("hive.support.concurrency", "false");
        settings.set("hive.mapred.mode", "nonstrict");
        settings.set("hive.exec.dynamic.partition.mode", "nonstrict");
        // Calcite is not among the classes of Spark.
        settings.set("hive.cbo.enable", "false");
        SessionState.start(settings);
        Driver driver = new Driver(settings);
        Scanner input = new Scanner(System.in, "UTF-8");
        while (input.hasNextLine()) {
            var response = driver.run(input.nextLine());
            List<Object> rows = new ArrayList<>();
            String end = response.getResponseCode() == 0 ? "end" : "failed " + response.getErrorMessage();
            try {
                while (response.getResponseCode() == 0 && driver.getResults(rows)) {
                    for (Object row : rows) {
                        System.out.println("row " + row.toString().replace("\n", "\\n"));
                    }
                    rows.clear();
                }
            } catch (Exception error) {
                end = "failed " + error.getMessage();
            }
            System.out.println(end.replace("\n", " "));
            System.out.flush();
        }
        System.exit(0);
    }
}
