#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/definitions/definition_list.hpp"
#include "json/canonical.hpp"
#include "search/vectors.hpp"

// The usual form of an embedding endpoint, POST /v1/embeddings, without the network: what is sent, and what is made of
// an answer that may be anything.
namespace proteus::search {

// Texts of one request. Endpoints allow more, but a wrong answer then costs more.
inline constexpr std::size_t kEmbeddedAtOnce = 64;

std::string embeddings_request(std::string_view model, std::span<const std::string> texts);

// One vector for each text, in their order. Fails, with a message for the operator, where the answer is not of that
// form, has another number of vectors, two for one text, vectors of different sizes, or one that is none. `components`
// is the size that the model's vectors had before; 0 where none is known.
Result<std::vector<Vector>> read_embeddings(std::string_view answer, std::size_t texts, std::size_t components = 0);

// The text that stands for a tool, and the key by which its vector is kept: the same for the same model and text.
std::string embedded_text(std::string_view upstream, const catalog::DefinitionList& list,
                          const catalog::Definition& tool);
json::Digest embedding_key(std::string_view model, std::string_view text);

// Vectors by their keys, as one text to be kept; what is read of one that was damaged is what it begins with.
struct KeyedVector {
  json::Digest key;
  VectorPointer vector;
};
std::string pack(std::span<const KeyedVector> vectors);
std::vector<KeyedVector> unpack(std::string_view text);

}  // namespace proteus::search
