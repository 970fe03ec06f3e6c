import java.io.BufferedWriter;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.cep.nfa.NFA;
import org.apache.flink.cep.nfa.NFAState;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBuffer;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBufferAccessor;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.WithinType;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.cep.configuration.SharedBufferCacheConfig;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** Runs patterns written as JSON over short streams with Flink's own pattern matching: CepCases cases.json results.jsonl. */
public final class CepCases {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static JsonNode events;

    public static void main(String[] args) throws Exception {
        try (BufferedWriter results = Files.newBufferedWriter(Path.of(args[1]))) {
            for (JsonNode entry : JSON.readTree(Files.readAllBytes(Path.of(args[0])))) {
                results.write(JSON.writeValueAsString(run(entry)));
                results.newLine();
                results.flush();
            }
        }
        System.exit(0); // each shared buffer leaves a thread behind
    }

    private static JsonNode run(JsonNode entry) throws Exception {
        ObjectNode result = JSON.createObjectNode();
        events = entry.get("events");
        NFA<Integer> nfa;
        Pattern<Integer, ?> pattern;
        try {
            pattern = sequence(entry.get("steps"), skip(entry.get("skip")));
            nfa = NFACompiler.compileFactory(pattern, true).createNFA();
        } catch (Exception error) {
            return result.put("refused", error.getClass().getSimpleName() + ": " + error.getMessage());
        }
        ArrayNode out = result.putArray("matches");
        SharedBuffer<Integer> buffer = new SharedBuffer<>(store(), IntSerializer.INSTANCE, new SharedBufferCacheConfig());
        NFAState state = nfa.createInitialNFAState();
        AfterMatchSkipStrategy skip = pattern.getAfterMatchSkipStrategy();
        try {
            for (int i = 0; i < events.size(); i++) {
                long timestamp = events.get(i).get(2).asLong();
                try (SharedBufferAccessor<Integer> accessor = buffer.getAccessor()) {
                    advance(nfa, accessor, state, timestamp, skip, out, i);
                }
                if (!events.get(i).get(0).asText().equals("@")) {
                    try (SharedBufferAccessor<Integer> accessor = buffer.getAccessor()) {
                        for (Map<String, List<Integer>> match : nfa.process(accessor, state, i, timestamp, skip, () -> 0L)) {
                            write(out, i, match, null);
                        }
                    }
                }
            }
        } catch (Exception error) {
            Throwable cause = error;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            result.put("failed", cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
        result.put("rest", state.getPartialMatches().size() + state.getCompletedMatches().size());
        return result;
    }

    private static void advance(
            NFA<Integer> nfa, SharedBufferAccessor<Integer> accessor, NFAState state, long time, AfterMatchSkipStrategy skip, ArrayNode out, int step)
            throws Exception {
        Tuple2<Collection<Map<String, List<Integer>>>, Collection<Tuple2<Map<String, List<Integer>>, Long>>> advanced =
                nfa.advanceTime(accessor, state, time, skip);
        for (Map<String, List<Integer>> match : advanced.f0) {
            write(out, step, match, null);
        }
        for (Tuple2<Map<String, List<Integer>>, Long> timedOut : advanced.f1) {
            write(out, step, timedOut.f0, timedOut.f1);
        }
    }

    private static void write(ArrayNode out, int step, Map<String, List<Integer>> match, Long timedOut) {
        ArrayNode row = out.addArray().add(step);
        if (timedOut == null) {
            row.addNull();
        } else {
            row.add(timedOut);
        }
        ArrayNode parts = row.addArray();
        match.forEach((name, taken) -> {
            ArrayNode part = parts.addArray().add(name);
            ArrayNode indexes = part.addArray();
            taken.forEach(indexes::add);
        });
    }

    private static AfterMatchSkipStrategy skip(JsonNode spec) {
        String name = spec == null || spec.size() < 2 ? null : spec.get(1).asText();
        boolean strict = spec != null && spec.size() > 2;
        switch (spec == null ? "no_skip" : spec.get(0).asText()) {
            case "skip_to_next":
                return AfterMatchSkipStrategy.skipToNext();
            case "skip_past_last_event":
                return AfterMatchSkipStrategy.skipPastLastEvent();
            case "skip_to_first":
                return strict ? AfterMatchSkipStrategy.skipToFirst(name).throwExceptionOnMiss() : AfterMatchSkipStrategy.skipToFirst(name);
            case "skip_to_last":
                return strict ? AfterMatchSkipStrategy.skipToLast(name).throwExceptionOnMiss() : AfterMatchSkipStrategy.skipToLast(name);
            default:
                return AfterMatchSkipStrategy.noSkip();
        }
    }

    @SuppressWarnings("unchecked")
    private static Pattern<Integer, ?> sequence(JsonNode steps, AfterMatchSkipStrategy skip) {
        Pattern<Integer, Integer> pattern = null;
        for (JsonNode step : steps) {
            String name = step.path("name").asText();
            Pattern<Integer, Integer> group = step.has("group") ? (Pattern<Integer, Integer>) sequence(step.get("group"), AfterMatchSkipStrategy.noSkip()) : null;
            switch (pattern == null ? "begin" : step.get("link").asText()) {
                case "begin":
                    pattern = group == null ? Pattern.<Integer>begin(name, skip) : Pattern.begin(group, skip);
                    break;
                case "next":
                    pattern = group == null ? pattern.next(name) : pattern.next(group);
                    break;
                case "followed_by":
                    pattern = group == null ? pattern.followedBy(name) : pattern.followedBy(group);
                    break;
                case "followed_by_any":
                    pattern = group == null ? pattern.followedByAny(name) : pattern.followedByAny(group);
                    break;
                case "not_next":
                    pattern = pattern.notNext(name);
                    break;
                default:
                    pattern = pattern.notFollowedBy(name);
            }
            quantify(pattern, step);
        }
        return pattern;
    }

    private static void quantify(Pattern<Integer, Integer> pattern, JsonNode step) {
        if (step.has("on")) {
            pattern.where(new Condition(step.get("on").asText(), step.path("ref").asText(""), step.path("below").asInt()));
        }
        if (step.has("times")) {
            int from = step.get("times").get(0).asInt();
            JsonNode to = step.get("times").get(1);
            Duration gap = step.has("gap") ? Duration.ofMillis(step.get("gap").asLong()) : null;
            if (to.isNull()) {
                if (gap == null) {
                    pattern.timesOrMore(from);
                } else {
                    pattern.timesOrMore(from, gap);
                }
            } else if (gap == null) {
                pattern.times(from, to.asInt());
            } else {
                pattern.times(from, to.asInt(), gap);
            }
        }
        if (step.has("until")) {
            pattern.until(new Condition(step.get("until").asText(), "", 0));
        }
        switch (step.path("inner").asText("")) {
            case "consecutive":
                pattern.consecutive();
                break;
            case "combinations":
                pattern.allowCombinations();
                break;
            default:
        }
        if (step.path("greedy").asBoolean()) {
            pattern.greedy();
        }
        if (step.path("optional").asBoolean()) {
            pattern.optional();
        }
        if (step.has("within")) {
            pattern.within(Duration.ofMillis(step.get("within").asLong()));
        }
        if (step.has("within_gap")) {
            pattern.within(Duration.ofMillis(step.get("within_gap").asLong()), WithinType.PREVIOUS_AND_CURRENT);
        }
    }

    /** An event is of one of the types; and, if ref is given, the values of the events of that pattern and its own are below a bound. */
    private static final class Condition extends IterativeCondition<Integer> {
        private final String types;
        private final String ref;
        private final int below;

        Condition(String types, String ref, int below) {
            this.types = types;
            this.ref = ref;
            this.below = below;
        }

        @Override
        public boolean filter(Integer event, Context<Integer> context) throws Exception {
            if (!types.contains(events.get(event).get(0).asText())) {
                return false;
            }
            if (ref.isEmpty()) {
                return true;
            }
            int sum = events.get(event).get(1).asInt();
            for (Integer taken : context.getEventsForPattern(ref)) {
                sum += events.get(taken).get(1).asInt();
            }
            return sum < below;
        }
    }

    // State in plain maps, for one key.

    private static KeyedStateStore store() {
        return (KeyedStateStore) Proxy.newProxyInstance(CepCases.class.getClassLoader(), new Class<?>[] {KeyedStateStore.class}, (self, method, args) -> {
            if (method.getReturnType() == MapState.class) {
                return mapState();
            }
            if (method.getReturnType() == ValueState.class) {
                return valueState();
            }
            throw new UnsupportedOperationException(method.getName());
        });
    }

    private static MapState<?, ?> mapState() {
        Map<Object, Object> map = new HashMap<>();
        return (MapState<?, ?>) Proxy.newProxyInstance(CepCases.class.getClassLoader(), new Class<?>[] {MapState.class}, (self, method, args) -> {
            switch (method.getName()) {
                case "get":
                    return map.get(args[0]);
                case "put":
                    return map.put(args[0], args[1]);
                case "putAll":
                    map.putAll((Map<?, ?>) args[0]);
                    return null;
                case "remove":
                    return map.remove(args[0]);
                case "contains":
                    return map.containsKey(args[0]);
                case "entries":
                    return map.entrySet();
                case "keys":
                    return map.keySet();
                case "values":
                    return map.values();
                case "iterator":
                    return map.entrySet().iterator();
                case "isEmpty":
                    return map.isEmpty();
                case "clear":
                    map.clear();
                    return null;
                default:
                    throw new UnsupportedOperationException(method.getName());
            }
        });
    }

    private static ValueState<?> valueState() {
        Object[] value = new Object[1];
        return (ValueState<?>) Proxy.newProxyInstance(CepCases.class.getClassLoader(), new Class<?>[] {ValueState.class}, (self, method, args) -> {
            switch (method.getName()) {
                case "value":
                    return value[0];
                case "update":
                    value[0] = args[0];
                    return null;
                default:
                    value[0] = null;
                    return null;
            }
        });
    }
}
