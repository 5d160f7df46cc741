#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::server {

// How many sessions there may be, and how many of them one principal may have. Whoever has an eighth of all gets more
// only where a quarter is free, so that one alone can have most of them and the others still find a place. Anonymous
// callers are many, whom nothing tells apart: together they may have all but a reserve for those with a name.
// Thread-safe.
class SessionPlaces {
 public:
  // The place of one session, given back at its end.
  class Place {
   public:
    Place() = default;
    Place(SessionPlaces& places, std::string principal, std::string id)
        : places_(&places), principal_(std::move(principal)), id_(std::move(id)) {}
    Place(Place&& other) noexcept
        : places_(std::exchange(other.places_, nullptr)),
          principal_(std::move(other.principal_)),
          id_(std::move(other.id_)) {}
    Place& operator=(Place&& other) noexcept;
    ~Place() { reset(); }

   private:
    void reset();

    SessionPlaces* places_ = nullptr;
    std::string principal_;
    std::string id_;
  };

  // `reserve` of all places are not for anonymous callers.
  explicit SessionPlaces(std::size_t all, std::size_t reserve = 0) : all_(all), reserve_(reserve) {}

  // Fails where there are too many: of this principal, saying when to try again, of anonymous callers, or of all.
  Result<Place> take(const std::string& principal, const std::string& id);
  std::size_t taken() const;
  // The sessions of a principal.
  std::vector<std::string> ids_of(const std::string& principal) const;

 private:
  void give_back(const std::string& principal, const std::string& id);

  const std::size_t all_;
  const std::size_t reserve_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::unordered_set<std::string>> by_principal_;  // none is empty
};

}  // namespace proteus::server
