"""`python -m nli_faith` is `nli-faith`."""

from nli_faith.cli import main

raise SystemExit(main())
