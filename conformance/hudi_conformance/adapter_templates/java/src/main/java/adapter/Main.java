package adapter;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The process that the suite starts: one question a line on stdin, one answer a line on stdout. */
public final class Main {
    /** Every operation that this adapter has; for the rest it says `unsupported`. */
    private static final List<String> OPERATIONS = List.of("list_timeline");
    private static final List<String> FEATURES =
        List.of("table-version-4", "table-version-5", "table-version-6", "table-version-8", "table-version-9");
    private static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // What libraries print would be taken for an answer.
        System.setOut(System.err);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonObject message = JsonParser.parseString(line).getAsJsonObject();
            String command = message.get("cmd").getAsString();
            if (command.equals("stop")) {
                return;
            }
            answers.println(JSON.toJson(command.equals("start") ? hello() : answered(message)));
        }
    }

    private static Object hello() {
        Map<String, String> who = Map.of("name", "template-adapter", "version", "0.1.0", "language", "java");
        return Map.of("protocol", 1, "implementation", who, "features", FEATURES, "ops", OPERATIONS);
    }

    private static JsonObject answered(JsonObject message) {
        JsonObject told = new JsonObject();
        told.add("seq", message.get("seq"));
        try {
            JsonObject result = new JsonObject();
            result.add("value", JSON.toJsonTree(answer(message)));
            told.add("result", result);
        } catch (Failure failure) {
            Map<String, String> why = failure.kind.equals("rejected")
                ? Map.of("reason", failure.word, "message", failure.getMessage())
                : Map.of("feature", failure.word);
            told.add(failure.kind, JSON.toJsonTree(why));
        } catch (IOException | RuntimeException error) {
            told.add("errored", JSON.toJsonTree(Map.of("message", error.toString())));
        }
        return told;
    }

    private static Object answer(JsonObject message) throws IOException {
        String operation = message.get("op").getAsString();
        if (!operation.equals("list_timeline")) {
            throw Failure.unsupported(operation);
        }
        JsonElement history = message.getAsJsonObject("params").get("include_history");
        if (history != null && history.getAsBoolean()) {
            throw Failure.unsupported("history");
        }
        return Timeline.list(Path.of(message.get("table").getAsString()));
    }
}
