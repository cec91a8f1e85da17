"""Our DeBERTa-v3 is that of the transformers library, to float32 rounding, whatever the lengths."""

from __future__ import annotations

import pytest
import tiny_models
import torch

from nli_faith import deberta
from nli_faith.deberta import DebertaClassifier, log_buckets, skew_rows
from nli_faith.deberta_config import DebertaConfig
from nli_faith.errors import ModelError

VOCABULARY = 50


@pytest.fixture(scope="module")
def networks():
    """(ours, theirs) with the same weights; buckets of 32 and positions to 64, so that short inputs leave both ranges."""
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    fields = tiny_models.deberta_config(VOCABULARY) | {"max_position_embeddings": 64}
    state = tiny_models.deberta_state(fields)
    ours = DebertaClassifier(DebertaConfig.from_dict(fields, 3))
    ours.load_state_dict(state)
    kinds = {"id2label": {int(key): name for key, name in fields["id2label"].items()}}
    theirs = DebertaV2ForSequenceClassification(DebertaV2Config(**fields | kinds, attn_implementation="eager"))
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and all(name.endswith("position_ids") for name in missing)
    return ours.eval(), theirs.eval()


def random_ids(rows: int, length: int, seed: int) -> torch.Tensor:
    return torch.randint(3, VOCABULARY, (rows, length), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    "lengths",
    [[1], [2, 1], [7, 7, 7], [16, 17], [33, 5, 32], [31, 64, 3], [65, 64, 40], [150, 100], [200]],
    ids=lambda lengths: "-".join(map(str, lengths)),
)
def test_logits_are_those_of_transformers(networks, lengths):
    ours, theirs = networks
    length = torch.tensor(lengths)
    ids = random_ids(len(lengths), max(lengths), sum(lengths))
    mask = torch.arange(ids.shape[1]) < length[:, None]
    ids = ids * mask
    with torch.inference_mode():
        got = ours(ids, length)
        wanted = theirs(input_ids=ids, attention_mask=mask.long()).logits
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)
    assert got.std() > 0.01  # the comparison is of numbers that differ


def test_without_lengths_nothing_is_padded(networks):
    ours, _ = networks
    ids = random_ids(4, 21, 5)
    with torch.inference_mode():
        torch.testing.assert_close(ours(ids), ours(ids, torch.full((4,), 21)), rtol=1e-6, atol=1e-6)


def test_padding_changes_nothing(networks):
    ours, _ = networks
    ids = random_ids(3, 40, 6)
    with torch.inference_mode():
        alone = torch.cat([ours(ids[i : i + 1, :length]) for i, length in enumerate((40, 9, 23))])
        mask = torch.arange(40) < torch.tensor([40, 9, 23])[:, None]
        together = ours(ids * mask, torch.tensor([40, 9, 23]))
        longer = ours(torch.nn.functional.pad(ids * mask, (0, 30)), torch.tensor([40, 9, 23]))
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(longer, alone, rtol=1e-5, atol=1e-5)


def test_the_order_of_words_matters(networks):
    ours, _ = networks
    ids = random_ids(1, 12, 8)
    swapped = ids.clone()
    swapped[0, [3, 9]] = ids[0, [9, 3]]
    with torch.inference_mode():
        assert (ours(ids) - ours(swapped)).abs().max() > 1e-3


def test_with_and_without_gradients_the_logits_are_the_same(networks):
    ours, _ = networks
    ids = random_ids(2, 30, 9)
    length = torch.tensor([30, 18])
    with torch.inference_mode():
        fused = ours(ids, length)
    torch.testing.assert_close(ours(ids, length).detach(), fused, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("buckets", "longest"), [(256, 512), (32, 64), (32, 512), (8, 100)])
def test_buckets_are_those_of_transformers(buckets, longest):
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    distance = torch.arange(-600, 601)
    wanted = make_log_bucket_position(distance, buckets, longest)
    assert log_buckets(distance, buckets, longest).tolist() == wanted.long().tolist()


def test_near_distances_have_a_bucket_each_and_far_ones_share():
    assert log_buckets(torch.arange(-16, 17), 32, 64).tolist() == list(range(-16, 17))
    far = log_buckets(torch.arange(17, 64), 32, 64)
    assert (far.diff() >= 0).all() and len(far.unique()) < 47
    assert (log_buckets(-torch.arange(17, 64), 32, 64) == -far).all()


def test_skewed_rows_by_hand():
    products = torch.arange(15.0).reshape(3, 5)
    # Element (i, j) is column 2 + j - i of row i.
    assert skew_rows(products).tolist() == [[2, 3, 4], [6, 7, 8], [10, 11, 12]]
    assert skew_rows(products).data_ptr() == products.data_ptr() + 2 * products.element_size()


def test_skewed_rows_take_wider_products():
    products = torch.arange(18.0).reshape(3, 6)
    assert skew_rows(products).tolist() == [[2, 3, 4], [7, 8, 9], [12, 13, 14]]


def by_definition(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    length = x.shape[2]
    column = length - 1 + torch.arange(length)[None, :] - torch.arange(length)[:, None]
    rows = [torch.einsum("bhd,hjd->bhj", x[:, :, i], table[:, column[i]]) for i in range(length)]
    return torch.stack(rows, dim=2)


@pytest.mark.parametrize("shape", [(1, 1, 1, 4), (3, 2, 7, 4), (2, 6, 33, 64)], ids=str)
def test_products_with_positions_and_their_gradients_are_those_of_the_definition(shape):
    batch, heads, length, width = shape
    draw = torch.Generator().manual_seed(length)
    x = torch.randn(batch, length, heads, width, generator=draw).transpose(1, 2).requires_grad_()
    table = torch.randn(heads, 2 * length - 1, width, generator=draw).requires_grad_()
    weights = torch.randn(batch, heads, length, length, generator=draw)
    got, wanted = deberta._by_position(x, table), by_definition(x, table)
    torch.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-5)
    gradients = [torch.autograd.grad((products * weights).sum(), (x, table)) for products in (got, wanted)]
    for a, b in zip(*gradients):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-4)


def test_no_product_copies_the_table_and_rows_are_even(networks, monkeypatch):
    """Rows of odd width are misaligned in half precision, and a product of four dimensions has a table for each sequence."""
    shapes, bmm = [], torch.bmm
    monkeypatch.setattr(torch, "bmm", lambda a, b: shapes.append((tuple(a.shape), tuple(b.shape))) or bmm(a, b))
    with torch.inference_mode():
        networks[0](random_ids(5, 21, 4))
    assert shapes == [((2, 5 * 21, 32), (2, 32, 42))] * 2 * (len(networks[0].deberta.encoder.layer) - 1)


def test_position_rows_are_made_once_on_the_cpu_and_serve_training_too(networks, monkeypatch):
    made, own = [], deberta.log_buckets
    monkeypatch.setattr(deberta, "log_buckets", lambda distance, *rest: made.append(distance.device.type) or own(distance, *rest))
    deberta._position_rows.cache_clear()
    ours, ids = networks[0], random_ids(2, 23, 4)
    with torch.inference_mode():
        first = ours(ids)
    again = ours(ids)
    again.sum().backward()
    assert made == ["cpu"] and ours.deberta.encoder.rel_embeddings.weight.grad.abs().max() > 0
    ours.zero_grad()
    torch.testing.assert_close(again.detach(), first, rtol=1e-5, atol=1e-5)
    with torch.inference_mode():
        ours(random_ids(2, 24, 4))
    assert made == ["cpu", "cpu"], "another length is another list"


def test_skewed_rows_of_several_heads_and_of_a_part_of_the_memory():
    products = torch.randn(3, 2, 4, 7, generator=torch.Generator().manual_seed(1))
    for part in (products, products[1:]):
        skewed = skew_rows(part)
        for b in range(part.shape[0]):
            for head in range(2):
                for i in range(4):
                    assert skewed[b, head, i].tolist() == part[b, head, i, 3 - i : 7 - i].tolist()
    assert skew_rows(torch.ones(2, 1, 1)).shape == (2, 1, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"position_biased_input": True}, {"type_vocab_size": 2}, {"share_att_key": False}, {"norm_rel_ebd": "none"},
        {"conv_kernel_size": 3}, {"hidden_act": "relu"}, {"pos_att_type": ["c2p"]}, {"pos_att_type": ["c2p", "p2c", "p2p"]},
        {"pooler_hidden_act": "relu"},
    ],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_variants_that_v3_has_not_are_refused_by_name(changes):
    fields = tiny_models.deberta_config(VOCABULARY) | changes
    with pytest.raises(ModelError, match=f"not a DeBERTa-v3: its config says {next(iter(changes))}="):
        DebertaConfig.from_dict(fields, 3)


def test_the_older_spelling_of_attention_kinds_is_read():
    fields = tiny_models.deberta_config(VOCABULARY) | {"pos_att_type": "c2p|p2c"}
    assert DebertaConfig.from_dict(fields, 3) == DebertaConfig.from_dict(tiny_models.deberta_config(VOCABULARY), 3)


def test_positions_reach_as_far_as_the_config_says():
    fields = tiny_models.deberta_config(VOCABULARY)
    assert DebertaConfig.from_dict(fields, 3).max_relative_positions == 512
    assert DebertaConfig.from_dict(fields | {"max_relative_positions": 300}, 3).max_relative_positions == 300
