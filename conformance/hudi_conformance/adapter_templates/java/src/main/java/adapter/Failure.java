package adapter;

/** Why there is no result: a refusal that all implementations share, or something that is not built yet. */
final class Failure extends RuntimeException {
    final String kind;
    final String word;

    private Failure(String kind, String word, String message) {
        super(message);
        this.kind = kind;
        this.word = word;
    }

    /** The table or the question is refused; `reason` is one of the protocol's. */
    static Failure rejected(String reason, String message) {
        return new Failure("rejected", reason, message);
    }

    /** Not built yet: the suite counts it apart, and never as a failure. */
    static Failure unsupported(String feature) {
        return new Failure("unsupported", feature, feature);
    }
}
