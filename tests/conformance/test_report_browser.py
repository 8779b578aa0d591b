"""The report in a real browser: from disk, without errors or requests, by keyboard, in light and dark, at full size.

`make browser` runs it with Debian's chromium and chromium-driver.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hudi_conformance.interop.peers.running import peers_required
from hudi_conformance.report.html import write_pages
from hudi_conformance.report.links import case_anchor, case_file, table_file
from hudi_conformance.report.runs import runs_of
from report_samples import NAMES, sample
from selenium import webdriver
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from test_report import HOSTILE, one_of_each

pytestmark = pytest.mark.browser
CASES, LARGE = 60, 1200
CONTRAST, LARGE_CONTRAST = 4.5, 3.0


class Browser:
    """Chromium with what the tests ask of it."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, fragment: str = "") -> None:
        """Go to a page on disk, with the logs of earlier ones forgotten."""
        self.driver.get("about:blank")
        self.errors()
        self.requests()
        self.driver.get(page.as_uri() + fragment)

    def errors(self) -> list[str]:
        """What the console says since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that were requested since, documents that were gone to left out."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent" and message["params"].get("type") != "Document":
                found.append(message["params"]["request"]["url"])
        return [address for address in found if not address.startswith("data:")]

    def scheme(self, name: str) -> None:
        """Light or dark, as the system would prefer."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def press(self, *keys: str) -> None:
        """Type on whatever has the focus."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def run(self, script: str, *values: Any) -> Any:
        """A script's answer."""
        return self.driver.execute_script(script, *values)

    def one(self, selector: str) -> WebElement:
        """The first element that fits."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def focus(self) -> WebElement:
        """What has the focus."""
        return self.driver.switch_to.active_element

    def shown_cases(self) -> list[str]:
        """The ids of the cases that the list shows."""
        rows = "[...document.querySelectorAll('tr.case')].filter((row) => row.offsetParent).map((row) => row.id)"
        return list(self.run(f"return {rows}"))

    def arrives(self, part: str) -> str:
        """Wait for a page whose address has a part in it, and answer the address."""
        WebDriverWait(self.driver, 10).until(lambda driver: part in driver.current_url)
        return self.driver.current_url

    def shows(self, count: int) -> list[str]:
        """Wait until the list shows so many cases."""
        WebDriverWait(self.driver, 10).until(lambda _: len(self.shown_cases()) == count)
        return self.shown_cases()

    def worked(self) -> float:
        """Seconds of processor time of the page's main thread: what else the machine has to do does not count."""
        found = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (program and driver):
        if peers_required():
            pytest.fail("chromium and chromium-driver are not installed")
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    # Without smooth scrolling nothing moves away under the pointer.
    flags = ("headless=new", "no-sandbox", "disable-dev-shm-usage", "force-prefers-reduced-motion")
    for flag in (*flags, "window-size=1280,1200"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver)) as chrome:
        yield Browser(chrome)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of every sort of verdict, with a page for every case."""
    return write_pages(sample(CASES), tmp_path_factory.mktemp("report"), all_cases=True).parent


@pytest.fixture(scope="module")
def pages(report: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One page of each kind."""
    failed = next(one for one in sample(CASES).outcomes if one.verdict == "fail")
    runs = tmp_path_factory.mktemp("runs")
    for day in (1, 2):
        header = {"kind": "header", "started": f"2025-01-0{day}T00:00:00Z", "adapters": ["engine"]}
        case = {"kind": "case", "id": "c", "table": "t", "adapter": "engine", "verdict": ("pass", "fail")[day - 1]}
        (runs / f"{day}.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(case)}\n", encoding="utf-8")
    written_report = write_pages(sample(4), tmp_path_factory.mktemp("configured"), runs=runs_of(runs.iterdir())).parent
    table = sample(CASES).tables[0].id
    return [
        report / "index.html",
        report / "clauses.html",
        report / case_file(failed.case),
        report / table_file(table),
        written_report / "runs.html",
    ]


def test_no_page_requests_anything_or_complains(browser: Browser, pages: list[Path]):
    for page in pages:
        browser.open(page)
        assert browser.one("h1").text

        assert browser.errors() == [], page.name
        assert browser.requests() == [], page.name


def test_hostile_text_runs_nothing(browser: Browser, tmp_path: Path):
    write_pages(one_of_each(HOSTILE), tmp_path)
    for page in sorted(tmp_path.rglob("*.html")):
        browser.open(page)

        assert browser.run("return typeof window.alerted") == "undefined"
        assert browser.driver.find_elements(By.TAG_NAME, "img") == []
        assert browser.errors() == [], page.name
        assert browser.requests() == [], page.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser: Browser, pages: list[Path], scheme: str):
    browser.scheme(scheme)
    script = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
    for page in pages:
        browser.open(page)
        browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
        faint = browser.run(script, CONTRAST, LARGE_CONTRAST)

        assert faint == [], f"{page.name} {scheme}"


def test_light_and_dark_are_two_pages(browser: Browser, report: Path):
    papers = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(report / "index.html")
        papers.append(browser.run("return getComputedStyle(document.body).backgroundColor"))

    assert papers[0] == "rgb(255, 255, 255)"
    assert papers[1] != papers[0]


def test_the_search_is_reached_used_and_left_by_keyboard(browser: Browser, report: Path):
    browser.open(report / "index.html")
    browser.press("/")
    assert browser.focus().get_attribute("name") == "text"

    browser.press("case 17:")
    assert [name.rpartition("--")[2] for name in browser.shows(1)] == ["case-17"]
    browser.press(Keys.ENTER)
    assert browser.focus().text.startswith("Case 17:")
    browser.press("/", Keys.ESCAPE)
    assert browser.shows(CASES)


def test_cases_are_stepped_through_and_opened_by_keyboard(browser: Browser, report: Path):
    browser.open(report / "index.html")
    shown = browser.shown_cases()
    order = [one.id for one in sample(CASES).questions]
    listed = order[[case_anchor(case) for case in order].index(shown[2]) :]
    browser.press("j", "j", "j", "k")
    second = browser.focus().find_element(By.XPATH, "./ancestor::tr").get_attribute("id")
    browser.press(Keys.ARROW_DOWN)
    third = browser.focus().find_element(By.XPATH, "./ancestor::tr").get_attribute("id")
    assert [second, third] == shown[1:3]

    browser.press(Keys.ENTER)
    here = browser.arrives(f"/{case_file(listed[0])}")
    browser.press("j")
    browser.arrives(f"/{case_file(listed[1])}")
    browser.press("k")
    assert browser.arrives(f"/{case_file(listed[0])}") == here
    browser.press("u")
    browser.arrives("index.html#cases")
    assert browser.errors() == []


def test_what_has_the_focus_is_seen(browser: Browser, report: Path):
    browser.open(report / "index.html")
    browser.press(Keys.TAB)
    assert browser.focus().text == "Skip to the content"

    browser.press("j")
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    box = browser.run("const b = document.activeElement.getBoundingClientRect(); return [b.top, b.bottom, innerHeight]")
    assert box[0] >= 0
    assert box[1] <= box[2]


def test_a_cell_of_the_matrix_leads_to_its_cases(browser: Browser, report: Path):
    browser.open(report / "index.html")
    button = browser.one(f'.matrix button[data-area="TL"][data-implementation="{NAMES[1]}"]')
    browser.run("arguments[0].focus()", button)
    browser.press(Keys.ENTER)
    listed = [one for one in sample(CASES).questions if one.clauses[0].startswith("TL-")]

    assert len(browser.shown_cases()) == len(listed)
    assert "area=TL" in browser.driver.current_url
    assert browser.focus().find_elements(By.XPATH, "./ancestor::tr[contains(@class, 'case')]")


def test_filters_stay_when_one_comes_back_from_a_case(browser: Browser, report: Path):
    browser.open(report / "index.html", "#cases?verdict=fail&implementation=engine-in-process")
    before = browser.shown_cases()
    failed = [
        one
        for one in sample(CASES).outcomes
        if one.implementation == NAMES[1] and one.verdict in {"fail", "wrong_reason"}
    ]
    assert len(before) == len(failed) > 1

    browser.press("j", Keys.ENTER)
    browser.arrives("/cases/")
    browser.driver.back()
    browser.arrives("index.html#cases?")
    assert browser.shows(len(before)) == before
    browser.one('.filter button[type="reset"]').click()
    assert browser.shows(CASES)


def test_features_have_a_matrix_of_their_own(browser: Browser, report: Path):
    browser.open(report / "index.html")
    browser.run("document.querySelector('#by-area').focus()")
    browser.press(Keys.ARROW_RIGHT)
    cell = browser.one('.matrix button[data-feature="cdc"]')
    assert cell.is_displayed()

    browser.run("arguments[0].click()", cell)
    listed = [one for one in sample(CASES).questions if "cdc" in one.features]
    assert len(browser.shown_cases()) == len(listed)


def test_a_link_to_a_clause_opens_it(browser: Browser, report: Path):
    browser.open(report / "clauses.html", "#RD-003")
    clause = browser.one("#RD-003")

    assert clause.get_attribute("open") == "true"
    assert "in merge order" in clause.text
    browser.press("/", "rd-005", Keys.ENTER)
    assert browser.one("output").text == "1 of 56 clauses"


def test_rows_and_columns_that_are_the_same_fold_away(browser: Browser, pages: list[Path]):
    browser.open(pages[2])
    cells = "return [...document.querySelectorAll('.beside tbody td')].filter((one) => one.offsetParent).length"
    few = browser.run(cells)
    browser.one(".columns").click()
    every = browser.run(cells)
    browser.one(".only").click()

    assert few < every
    assert browser.run(cells) < every
    assert browser.one(".beside mark").text == "99"


def test_a_run_of_1200_cases_and_five_implementations_is_there_within_a_second(browser: Browser, tmp_path: Path):
    index = write_pages(sample(LARGE), tmp_path)
    browser.open(tmp_path / "tables")
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    browser.driver.get(index.as_uri())
    assert len(browser.shown_cases()) == LARGE
    opened = browser.worked()

    browser.press("/", "case 1199:", Keys.ENTER)
    assert len(browser.shown_cases()) == 1
    searched = browser.worked()
    browser.driver.execute_cdp_cmd("Performance.disable", {})
    # A page that is gone to begins at nothing.
    assert 0 < opened < 1
    assert searched - opened < 1
