"""A browser for the tests of pages: Chromium, where it and the extra ``test-web`` are installed."""

from tests.support.browser import browser as browser
