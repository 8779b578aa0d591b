"""What people look at: drawn timelines, the HTML report, console tables and the generated status page."""
