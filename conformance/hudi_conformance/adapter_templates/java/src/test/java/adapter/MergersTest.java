package adapter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** The reference mergers, pair by pair as the suite's model merges them. */
final class MergersTest {
    @Test
    void everyPairIsMergedAsTheModelMergesIt() throws IOException {
        JsonArray cases = JsonParser.parseString(Files.readString(Path.of("merger-cases.json"))).getAsJsonArray();
        assertFalse(cases.isEmpty());
        for (JsonElement element : cases) {
            JsonObject told = element.getAsJsonObject();
            Mergers.Rule rule = new Mergers.Rule(names(told.get("columns")), names(told.get("ordering")));
            Mergers.Version merged = Mergers.merge(
                told.get("strategy").getAsString(), rule, version(told.get("older")), version(told.get("newer")));
            assertEquals(version(told.get("merged")), merged, told.toString());
        }
    }

    @Test
    void anUnknownStrategyIsRefused() {
        Mergers.Version nothing = new Mergers.Version(null, null, true);
        Mergers.Rule rule = new Mergers.Rule(List.of(), List.of());
        assertThrows(
            Failure.class, () -> Mergers.merge("00000000-0000-0000-0000-000000000000", rule, nothing, nothing));
    }

    @Test
    void columnsAreThoseThatTheTableNamesElseItsOrderingFields() {
        Properties named = new Properties();
        named.setProperty("hoodie.record.merge.property.hudi.conformance.columns", "a, b");
        assertEquals(List.of("a", "b"), Mergers.columnsOf(named, List.of("ts")));
        assertEquals(List.of("ts"), Mergers.columnsOf(new Properties(), List.of("ts")));
    }

    private static Mergers.Version version(JsonElement told) {
        JsonObject object = told.getAsJsonObject();
        JsonElement values = object.get("values");
        JsonElement ordering = object.get("ordering");
        return new Mergers.Version(
            values.isJsonNull() ? null : values.getAsJsonObject(),
            ordering.isJsonNull() ? null : ordering.getAsJsonArray().asList(),
            object.get("is_delete").getAsBoolean());
    }

    private static List<String> names(JsonElement told) {
        return StreamSupport.stream(told.getAsJsonArray().spliterator(), false).map(JsonElement::getAsString).toList();
    }
}
