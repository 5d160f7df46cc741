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

// The usual protocol of embedding endpoints, POST /v1/embeddings, without the network: writes requests and reads
// untrusted answers.
namespace proteus::search {

// Maximum number of texts in one request. Endpoints allow more, but a wrong answer then costs more.
inline constexpr std::size_t kEmbeddedAtOnce = 64;

std::string embeddings_request(std::string_view model, std::span<const std::string> texts);

// Returns one vector for each text, in the order of the texts. Fails with a message for the operator if the answer does
// not have the usual form, has a wrong number of vectors, two for one text, vectors of different sizes, or an invalid
// one. `components` is the size of the model's earlier vectors; 0 if that is unknown.
Result<std::vector<Vector>> read_embeddings(std::string_view answer, std::size_t texts, std::size_t components = 0);

// The text that stands for a tool, and the key under which its vector is stored: the same for the same model and text.
std::string embedded_text(std::string_view upstream, const catalog::DefinitionList& list,
                          const catalog::Definition& tool);
json::Digest embedding_key(std::string_view model, std::string_view text);

// Vectors with their keys, stored as one text. From a damaged text, `unpack` returns the vectors in front of the
// damage.
struct KeyedVector {
  json::Digest key;
  VectorPointer vector;
};
std::string pack(std::span<const KeyedVector> vectors);
std::size_t packed_size(const KeyedVector& vector);  // before Base64
std::vector<KeyedVector> unpack(std::string_view text);

// Under which key the store has an upstream's vectors: each part is one packed text.
inline constexpr std::size_t kMostVectorParts = 48;
std::string vectors_key(std::string_view upstream, std::size_t part);

}  // namespace proteus::search
