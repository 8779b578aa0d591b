package adapter;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The suite's four reference mergers, for tables with the feature `merge-custom`. Clauses: RM-003 to RM-012.
 *
 * <p>Nothing calls them yet: call `merge` where your reader merges records of a table whose merge mode is CUSTOM.
 */
final class Mergers {
    static final String COUNTER = "2e073cb4-ac99-573a-986a-1e30a8c39b14";
    static final String GREATER_OF_TWO = "f4d090e1-8005-5437-b99b-455ae39820db";
    static final String SET_UNION = "a8a2be63-cd61-5653-a78e-c1ac920f0d25";
    static final String DELETE_AT_ZERO = "78bd11f0-7eb9-574e-b71c-8a553f04b96d";
    private static final String COLUMNS = "hoodie.record.merge.property.hudi.conformance.columns";

    private Mergers() {}

    /** One version of a record; a tombstone has no values, a deleted row may keep them for merges to come. */
    record Version(JsonObject values, List<JsonElement> ordering, boolean isDelete) {}

    /** What a table says of merging: the columns that the merger works on, and its ordering fields. */
    record Rule(List<String> columns, List<String> ordering) {}

    /** Two versions as the table's own merger has them; `strategy` is `hoodie.record.merge.strategy.id`. */
    static Version merge(String strategy, Rule rule, Version older, Version newer) {
        return switch (strategy) {
            case COUNTER, SET_UNION -> combined(rule, older, newer);
            case GREATER_OF_TWO -> greater(rule, older, newer);
            case DELETE_AT_ZERO -> deletedAtZero(rule, older, newer);
            default -> throw Failure.rejected("MERGER_UNKNOWN", "no merger has the strategy id " + strategy);
        };
    }

    /** The columns that a table names for its merger; the ordering fields where it names none. */
    static List<String> columnsOf(Properties properties, List<String> ordering) {
        Stream<String> told = Stream.of(properties.getProperty(COLUMNS, "").split(","));
        List<String> named = told.map(String::trim).filter(name -> !name.isEmpty()).toList();
        return named.isEmpty() ? ordering : named;
    }

    /** Counter and set union: the named columns of both put together, the rest the newer record's. */
    private static Version combined(Rule rule, Version older, Version newer) {
        JsonObject values = older.values() == null ? new JsonObject() : older.values().deepCopy();
        JsonObject second = newer.values() == null ? new JsonObject() : newer.values();
        for (String name : second.keySet()) {
            boolean both = rule.columns().contains(name) && values.has(name);
            values.add(name, both ? together(values.get(name), second.get(name)) : second.get(name));
        }
        rule.columns().stream().filter(name -> !values.has(name)).forEach(name -> values.add(name, JsonNull.INSTANCE));
        List<JsonElement> ordering = valuesOf(rule.ordering(), values);
        List<JsonElement> kept = newer.ordering() == null ? older.ordering() : newer.ordering();
        return new Version(values, ordering == null ? kept : ordering, newer.isDelete());
    }

    /** The counter, and the row goes where nothing is left in any of the columns; a tombstone takes nothing. */
    private static Version deletedAtZero(Rule rule, Version older, Version newer) {
        Version found = combined(rule, older, newer);
        Stream<JsonElement> sums = rule.columns().stream().map(found.values()::get);
        boolean nothingLeft = sums.allMatch(sum -> sum.isJsonNull() || sum.getAsBigDecimal().signum() == 0);
        return new Version(found.values(), found.ordering(), nothingLeft);
    }

    /** The record that is greater in the first column, then in the second; a tie goes to the newer. */
    private static Version greater(Rule rule, Version older, Version newer) {
        List<JsonElement> left = rankOf(rule, older);
        List<JsonElement> right = rankOf(rule, newer);
        boolean keeps = left != null && (right == null || compare(left, right) > 0);
        return keeps ? older : newer;
    }

    /** A row's columns, or a tombstone's ordering values; null where one is missing. */
    private static List<JsonElement> rankOf(Rule rule, Version version) {
        return version.values() == null ? version.ordering() : valuesOf(rule.columns(), version.values());
    }

    private static List<JsonElement> valuesOf(List<String> names, JsonObject values) {
        List<JsonElement> found = new ArrayList<>();
        for (String name : names) {
            if (!values.has(name) || values.get(name).isJsonNull()) {
                return null;
            }
            found.add(values.get(name));
        }
        return found.isEmpty() ? null : found;
    }

    private static int compare(List<JsonElement> left, List<JsonElement> right) {
        for (int at = 0; at < Math.min(left.size(), right.size()); at++) {
            int found = compare(left.get(at).getAsJsonPrimitive(), right.get(at).getAsJsonPrimitive());
            if (found != 0) {
                return found;
            }
        }
        return Integer.compare(left.size(), right.size());
    }

    private static int compare(JsonPrimitive left, JsonPrimitive right) {
        return left.isNumber() && right.isNumber()
            ? left.getAsBigDecimal().compareTo(right.getAsBigDecimal())
            : left.getAsString().compareTo(right.getAsString());
    }

    /** The sum of numbers, or the members of either list, each once and sorted; a null adds nothing. */
    private static JsonElement together(JsonElement older, JsonElement newer) {
        if (older.isJsonNull() || newer.isJsonNull()) {
            return older.isJsonNull() ? newer : older;
        }
        if (older.isJsonArray()) {
            TreeSet<String> members = new TreeSet<>(Mergers::byCodePoints);
            Stream.of(older, newer).forEach(list -> list.getAsJsonArray().forEach(one -> members.add(one.getAsString())));
            JsonArray sorted = new JsonArray();
            members.forEach(sorted::add);
            return sorted;
        }
        return new JsonPrimitive(older.getAsBigDecimal().add(newer.getAsBigDecimal()));
    }

    private static int byCodePoints(String left, String right) {
        return java.util.Arrays.compare(left.codePoints().toArray(), right.codePoints().toArray());
    }
}
