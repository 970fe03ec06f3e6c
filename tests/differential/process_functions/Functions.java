import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.functions.TableSemantics;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** The functions of functions.py for Flink. */
public class Functions {

    public static class Greeting extends ProcessTableFunction<String> {
        public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) Row input) {
            collect("Hello " + input.getField("who") + "!");
        }
    }

    @DataTypeHint("ROW<n INT, m BIGINT>")
    public static class Multiples extends ProcessTableFunction<Row> {
        public void eval(
                @ArgumentHint({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.PASS_COLUMNS_THROUGH}) Row input,
                @ArgumentHint(name = "factor") Integer factor) {
            Integer amount = input.getFieldAs("amount");
            for (int i = 1; amount != null && i <= 2; i++) {
                collect(Row.of(i, (long) amount * factor * i));
            }
        }
    }

    @DataTypeHint("ROW<text STRING, n BIGINT>")
    public static class Counting extends ProcessTableFunction<Row> {
        public void eval(
                @StateHint(type = @DataTypeHint("ROW<n BIGINT>")) Row memory,
                @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input) {
            Long n = memory.getFieldAs("n");
            n = n == null ? 1L : n + 1;
            memory.setField("n", n);
            collect(Row.of("order " + input.getField("id"), n));
        }
    }

    @DataTypeHint("ROW<items STRING, times INT, total INT>")
    public static class History extends ProcessTableFunction<Row> {
        public void eval(
                Context ctx,
                @StateHint ListView<Integer> ids,
                @StateHint MapView<String, Integer> items,
                @StateHint(type = @DataTypeHint("ROW<total INT>"), ttl = "1 day") Row sum,
                @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input,
                Integer most)
                throws Exception {
            Integer amount = input.getFieldAs("amount");
            String item = String.valueOf((Object) input.getFieldAs("item"));
            ids.add(input.getFieldAs("id"));
            Integer times = items.get(item);
            items.put(item, times == null ? 1 : times + 1);
            Integer total = sum.getFieldAs("total");
            sum.setField("total", (total == null ? 0 : total) + (amount == null ? 0 : amount));
            String all = ids.getList().stream().map(String::valueOf).collect(Collectors.joining(","));
            collect(Row.of(all, items.get(item), sum.getField("total")));
            if (ids.getList().size() >= most) {
                ctx.clearState("ids");
            }
            if (amount != null && amount == 4) {
                ctx.clearAllState();
            }
        }
    }

    @DataTypeHint("ROW<what STRING, at BIGINT, watermark BIGINT>")
    public static class Reminders extends ProcessTableFunction<Row> {
        public void eval(
                Context ctx,
                @StateHint(type = @DataTypeHint("ROW<id INT>")) Row last,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME}) Row input) {
            TimeContext<Long> time = ctx.timeContext(Long.class);
            last.setField("id", input.getField("id"));
            collect(Row.of("row " + input.getField("id"), time.time(), null));
            time.registerOnTime("quiet", time.time() + 30_000L);
            time.registerOnTime(time.time() + 5_000L);
            if (input.<Integer>getFieldAs("id") % 5 == 0) {
                time.clearTimer("quiet");
            }
            if (input.<Integer>getFieldAs("id") == 9) {
                time.clearTimer(time.time() + 5_000L);
            }
        }

        public void onTimer(OnTimerContext ctx, Row last) {
            TimeContext<Long> time = ctx.timeContext(Long.class);
            String name = ctx.currentTimer();
            collect(Row.of((name == null ? "tick" : name) + " " + last.getField("id"), time.time(), null));
            if ("quiet".equals(name)) {
                ctx.clearAllState(); // clearAllTimers() and clearAll() of Flink 2.3 delete timers of other keys, too
            }
        }
    }

    @DataTypeHint("ROW<id INT, city STRING>")
    public static class Joining extends ProcessTableFunction<Row> {
        public void eval(
                @StateHint(type = @DataTypeHint("ARRAY<INT>")) ListView<Integer> orders,
                @StateHint(type = @DataTypeHint("ROW<city STRING>")) Row customer,
                @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row a,
                @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row b)
                throws Exception {
            if (a != null) {
                orders.add(a.getFieldAs("id"));
                if (customer.getField("city") != null) {
                    collect(Row.of(a.getField("id"), customer.getField("city")));
                }
            } else {
                customer.setField("city", b.getField("city"));
                for (Integer id : orders.get()) {
                    collect(Row.of(id, b.getField("city")));
                }
            }
        }
    }

    public static class Kinds extends ProcessTableFunction<String> {
        public void eval(@ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row input) {
            collect(input.getKind().shortString() + " " + input.getField(0) + " " + input.getField(1));
        }
    }

    @DataTypeHint("ROW<n BIGINT, keys STRING, tc INT>")
    public static class Whole extends ProcessTableFunction<Row> {
        public void eval(
                Context ctx,
                @StateHint(type = @DataTypeHint("ROW<n BIGINT>")) Row memory,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.OPTIONAL_PARTITION_BY}) Row input) {
            Long n = memory.getFieldAs("n");
            memory.setField("n", n == null ? 1L : n + 1);
            String keys = Arrays.toString(ctx.tableSemanticsFor("input").partitionByColumns());
            collect(Row.of(memory.getField("n"), keys, ctx.tableSemanticsFor("input").timeColumn()));
        }
    }

    @DataTypeHint("ROW<id INT, seen STRING, cols STRING, t BIGINT>")
    public static class Sequence extends ProcessTableFunction<Row> {
        public void eval(
                Context ctx,
                @StateHint(type = @DataTypeHint("ROW<seen STRING>")) Row memory,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.OPTIONAL_PARTITION_BY}) Row input) {
            Object before = memory.getField("seen");
            memory.setField("seen", (before == null ? "" : before + ",") + input.getField("id"));
            TableSemantics of = ctx.tableSemanticsFor("input");
            String columns = Arrays.toString(of.orderByColumns()) + Arrays.toString(of.orderByDirections());
            collect(Row.of(input.getField("id"), memory.getField("seen"), columns, ctx.timeContext(Long.class).time()));
        }
    }

    @DataTypeHint("ROW<what STRING>")
    public static class Alarms extends ProcessTableFunction<Row> {
        public void eval(Context ctx, @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input) {
            TimeContext<Long> time = ctx.timeContext(Long.class);
            collect(Row.of("row " + input.getField("id")));
            time.registerOnTime("alarm", time.time() + 1_000L);
        }

        public void onTimer(OnTimerContext ctx) {
            collect(Row.of(ctx.currentTimer()));
        }
    }

    /** The total of a key; one of more than 10 is deleted. */
    abstract static class Totals extends ProcessTableFunction<Row> implements ChangelogFunction {
        void total(Context ctx, Row memory, Row input) {
            boolean upserts = !ctx.getChangelogMode().contains(RowKind.UPDATE_BEFORE);
            String mode = ctx.getChangelogMode().toString();
            Integer before = memory.getFieldAs("total");
            Integer amount = input.getFieldAs("amount");
            boolean minus = input.getKind() == RowKind.UPDATE_BEFORE || input.getKind() == RowKind.DELETE;
            int total = (before == null ? 0 : before) + (amount == null ? 0 : minus ? -amount : amount);
            memory.setField("total", total);
            if (before == null) {
                collect(Row.ofKind(RowKind.INSERT, total, mode));
                return;
            }
            if (total > 10) {
                collect(Row.ofKind(RowKind.DELETE, before, mode));
                memory.setField("total", null);
                return;
            }
            if (!upserts) {
                collect(Row.ofKind(RowKind.UPDATE_BEFORE, before, mode));
            }
            collect(Row.ofKind(RowKind.UPDATE_AFTER, total, mode));
        }
    }

    @DataTypeHint("ROW<total INT, mode STRING>")
    public static class Retracting extends Totals {
        public ChangelogMode getChangelogMode(ChangelogContext ctx) {
            return ChangelogMode.all();
        }

        public void eval(
                Context ctx,
                @StateHint(type = @DataTypeHint("ROW<total INT>")) Row memory,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row input) {
            total(ctx, memory, input);
        }
    }

    @DataTypeHint("ROW<total INT, mode STRING>")
    public static class Upserting extends Totals {
        public ChangelogMode getChangelogMode(ChangelogContext ctx) {
            return ChangelogMode.upsert();
        }

        public void eval(
                Context ctx,
                @StateHint(type = @DataTypeHint("ROW<total INT>")) Row memory,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row input) {
            total(ctx, memory, input);
        }
    }

    @DataTypeHint("ROW<total INT, mode STRING>")
    public static class Adapting extends Totals {
        public ChangelogMode getChangelogMode(ChangelogContext ctx) {
            return ctx.getRequiredChangelogMode();
        }

        public void eval(
                Context ctx,
                @StateHint(type = @DataTypeHint("ROW<total INT>")) Row memory,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES}) Row input) {
            total(ctx, memory, input);
        }
    }

    @DataTypeHint("ROW<r STRING, mode STRING>")
    public static class Befores extends ProcessTableFunction<Row> {
        public void eval(
                Context ctx,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_UPDATE_BEFORE})
                        Row input) {
            String mode = ctx.tableSemanticsFor("input").changelogMode().map(String::valueOf).orElse("");
            collect(Row.of(input.getKind().shortString() + " " + input.getField(0) + " " + input.getField(1), mode));
        }
    }

    @DataTypeHint("ROW<r STRING, mode STRING>")
    public static class Updates extends ProcessTableFunction<Row> {
        public void eval(
                Context ctx,
                @ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.SUPPORT_UPDATES, ArgumentTrait.REQUIRE_FULL_DELETE})
                        Row input) {
            String mode = ctx.tableSemanticsFor("input").changelogMode().map(String::valueOf).orElse("");
            collect(Row.of(input.getKind().shortString() + " " + input.getField(0) + " " + input.getField(1), mode));
        }
    }

    @DataTypeHint("ROW<n INT>")
    public static class RowUpserting extends ProcessTableFunction<Row> implements ChangelogFunction {
        public ChangelogMode getChangelogMode(ChangelogContext ctx) {
            return ChangelogMode.upsert();
        }

        public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) Row input) {
            collect(Row.of(1));
        }
    }

    @DataTypeHint("ROW<n INT>")
    public static class Negating extends ProcessTableFunction<Row> implements ChangelogFunction {
        public ChangelogMode getChangelogMode(ChangelogContext ctx) {
            return ChangelogMode.all();
        }

        public void eval(@ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) Row input) {
            Integer id = input.getFieldAs("id");
            collect(Row.ofKind(RowKind.INSERT, id));
            if (id % 2 == 0) {
                collect(Row.ofKind(RowKind.DELETE, id));
            }
        }
    }

    @DataTypeHint("ROW<n INT>")
    public static class Passing extends ProcessTableFunction<Row> implements ChangelogFunction {
        public ChangelogMode getChangelogMode(ChangelogContext ctx) {
            return ChangelogMode.all();
        }

        public void eval(@ArgumentHint({ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.PASS_COLUMNS_THROUGH}) Row input) {
            collect(Row.of(1));
        }
    }

    @DataTypeHint("ROW<n INT>")
    public static class Undeclared extends ProcessTableFunction<Row> {
        public void eval(@ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input) {
            collect(Row.ofKind(RowKind.DELETE, 1));
        }
    }

    public static class Adding extends ProcessTableFunction<Integer> {
        public void eval(Integer a, @ArgumentHint(isOptional = true) Integer b) {
            collect(b == null ? a : a + b);
        }
    }
}
