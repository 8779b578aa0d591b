package adapter;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a table's files say of its timeline: names, and where they stand. Clauses: TL-001 to TL-012, PR-007. */
final class Timeline {
    private static final Set<String> ACTIONS = Set.of(
        "commit", "deltacommit", "replacecommit", "clean", "compaction", "logcompaction", "clustering", "indexing",
        "rollback", "savepoint", "restore");
    private static final List<String> STATES = List.of("REQUESTED", "INFLIGHT", "COMPLETED");
    private static final Pattern NAME =
        Pattern.compile("(?<requested>[0-9]+)(_(?<completed>[0-9]+))?\\.(?<action>[a-z]+)(\\.(?<state>requested|inflight))?");
    private static final Pattern LOOKS_LIKE_ONE =
        Pattern.compile("[0-9].*|.*\\.(" + String.join("|", ACTIONS) + "|requested|inflight|completed)");

    private Timeline() {}

    /** An action as the protocol tells it. */
    record Instant(String requested, String completed, String action, String state) {
        boolean isCompleted() {
            return state.equals("COMPLETED");
        }

        /** A savepoint, or a clean of an old release, has the instant of a write and is another action. */
        String key() {
            return requested + (action.equals("savepoint") || action.equals("clean") ? " " + action : "");
        }
    }

    /** Every action in its highest state, by requested time. */
    static List<Instant> list(Path table) throws IOException {
        Properties properties = properties(table);
        boolean below = layout(properties) == 2;
        Path folder = table.resolve(".hoodie");
        if (below) {
            folder = folder.resolve(properties.getProperty("hoodie.timeline.path", "timeline"));
        }
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        Map<String, Instant> found = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder).filter(Files::isRegularFile)) {
            // An upgrade that stopped leaves completed files of the other layout behind.
            files.map(file -> parse(file.getFileName().toString())).flatMap(Optional::stream)
                .filter(one -> !one.isCompleted() || (one.completed() != null) == below)
                .forEach(one -> found.merge(one.key(), one, Timeline::higher));
        }
        return List.copyOf(found.values());
    }

    private static Instant higher(Instant one, Instant other) {
        if (one.isCompleted() && other.isCompleted()) {
            throw Failure.rejected("INSTANT_MALFORMED", one.requested() + " completed twice");
        }
        return STATES.indexOf(one.state()) > STATES.indexOf(other.state()) ? one : other;
    }

    /** A file's name as an entry; empty where it is no part of the timeline. */
    private static Optional<Instant> parse(String name) {
        if (!LOOKS_LIKE_ONE.matcher(name).matches()) {
            return Optional.empty();
        }
        Matcher matcher = NAME.matcher(name);
        if (matcher.matches()) {
            String completed = matcher.group("completed");
            String action = matcher.group("action");
            String state = Optional.ofNullable(matcher.group("state")).orElse("completed");
            if (action.equals("inflight") && state.equals("completed")) {
                // An inflight commit has a name without its action.
                action = "commit";
                state = "inflight";
            }
            if (ACTIONS.contains(action) && (completed == null || state.equals("completed"))) {
                return Optional.of(new Instant(matcher.group("requested"), completed, action, state.toUpperCase()));
            }
        }
        throw Failure.rejected("INSTANT_MALFORMED", name + " is no instant");
    }

    /** 1: the timeline's files stand in `.hoodie`; 2: in a folder below it. */
    private static int layout(Properties properties) {
        String version = properties.getProperty("hoodie.table.version", "").trim();
        String usual = switch (version) {
            case "4", "5", "6" -> "1";
            case "8", "9" -> "2";
            default -> throw version.matches("[0-9]+")
                ? Failure.rejected("TABLE_VERSION_UNSUPPORTED", "table version " + version)
                : Failure.rejected("PROPERTIES_INVALID", "hoodie.table.version is no number");
        };
        String layout = properties.getProperty("hoodie.timeline.layout.version", usual);
        return switch (layout) {
            case "1" -> 1;
            case "2" -> 2;
            default -> throw Failure.rejected("PROPERTIES_INVALID", "timeline layout " + layout);
        };
    }

    /** `hoodie.properties`, or its backup where it is absent. */
    private static Properties properties(Path table) throws IOException {
        for (String name : List.of("hoodie.properties", "hoodie.properties.backup")) {
            Path file = table.resolve(".hoodie").resolve(name);
            if (Files.isRegularFile(file)) {
                Properties properties = new Properties();
                try (Reader reader = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
                    properties.load(reader);
                }
                return properties;
            }
        }
        throw Failure.rejected("NOT_A_TABLE", table + " has no hoodie.properties");
    }
}
