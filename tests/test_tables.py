"""Arrow batches in, Arrow batches out: the columns of the file output behind the input's own, for Ray Data and the like."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_stubs import sample_rows

from nli_faith import InputError, Scorer
from nli_faith.files import score_file
from nli_faith.outputs import SCORE_FIELDS, SCORE_NAMES


@pytest.fixture
def table():
    return pa.Table.from_pylist(sample_rows(40)).replace_schema_metadata({"made by": "the test"})


def test_a_record_batch_gets_the_columns_of_the_file_output(fake, tmp_path, table):
    (batch,) = table.combine_chunks().to_batches()
    scored = fake.score_batch(batch)
    assert isinstance(scored, pa.RecordBatch)
    assert list(scored.schema)[len(table.schema) :] == list(SCORE_FIELDS)
    assert scored.select(table.column_names).equals(batch) and scored.schema.metadata == table.schema.metadata
    pq.write_table(table, tmp_path / "in.parquet")
    score_file(fake, str(tmp_path / "in.parquet"))
    written = pq.read_table(tmp_path / "in.scored.parquet")
    assert scored.schema.remove_metadata() == written.schema.remove_metadata()
    assert pa.Table.from_batches([scored]).to_pylist() == written.to_pylist()


def test_a_table_gives_a_table_whatever_its_chunks(fake, table):
    whole = fake.score_batch(table)
    torn = fake.score_batch(pa.concat_tables([table.slice(0, 7), table.slice(7, 20), table.slice(27)]))
    assert isinstance(whole, pa.Table) and isinstance(torn, pa.Table)
    assert torn.to_pylist() == whole.to_pylist() and whole["status"].to_pylist().count("scored") > 10


def test_an_empty_batch_has_the_columns_too(fake, table):
    scored = fake.score_batch(table.slice(0, 0))
    assert scored.num_rows == 0 and scored.schema == fake.score_batch(table).schema


def test_a_scorer_travels_before_and_after_its_first_use(fake, table):
    sent = pickle.loads(pickle.dumps(fake))
    expected = fake(table)
    assert sent(table) == expected
    assert pickle.loads(pickle.dumps(fake))(table) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


def test_options_travel_with_the_scorer():
    scorer = Scorer("fake", threshold=0.3, no_claims=None, early_exit=True, device="cpu", budget=99)
    sent = pickle.loads(pickle.dumps(scorer))
    assert (sent.model_options, sent.score_options) == (scorer.model_options, scorer.score_options)
    other = scorer.on("cuda:1")
    assert other.model_options.device == "cuda:1" and scorer.model_options.device == "cpu"
    assert other.score_options == scorer.score_options and other.model_options.budget == 99


def test_a_bad_cell_is_a_row_of_its_own(fake):
    batch = pa.RecordBatch.from_pydict({"answer": ["It rains.", "It snows."], "contexts": pa.array([[{"a": 1}], [{"a": 2}]])})
    scored = fake.score_batch(batch)
    assert scored["status"].to_pylist() == ["error", "error"] and "without text" in scored["error"][0].as_py()


def test_what_is_no_batch_is_refused_with_a_sentence(fake, table):
    for wrong in ({"answer": ["a"]}, table.to_pylist(), None):
        with pytest.raises(InputError, match="takes a pyarrow RecordBatch or Table, not"):
            fake.score_batch(wrong)
    with pytest.raises(InputError, match="The batch"):
        fake.score_batch(table.drop_columns(["contexts"]))
    with pytest.raises(InputError, match="already has the columns"):
        fake.score_batch(fake.score_batch(table))
    assert set(SCORE_NAMES).isdisjoint(table.column_names)
