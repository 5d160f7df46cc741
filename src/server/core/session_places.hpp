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

// Limits the number of sessions, in total and per principal. A principal that has an eighth of all places gets more
// only while more than a quarter is free: a single principal can have most places, and others still find one. Anonymous
// callers cannot be told apart; together they may have all places but a reserve for named principals. Thread-safe.
class SessionPlaces {
 public:
  // The place of one session, released by the destructor.
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

  // `reserve` of the `all` places are not for anonymous callers.
  explicit SessionPlaces(std::size_t all, std::size_t reserve = 0) : all_(all), reserve_(reserve) {}

  // Fails if there are too many sessions: of this principal (the error says when to retry), of anonymous callers, or in
  // total.
  Result<Place> take(const std::string& principal, const std::string& id);
  std::size_t taken() const;
  // Returns the ids of a principal's sessions.
  std::vector<std::string> ids_of(const std::string& principal) const;

 private:
  void give_back(const std::string& principal, const std::string& id);

  const std::size_t all_;
  const std::size_t reserve_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  // Ids; no set is empty. An id is there twice while a session is taken back that has just been handed over.
  std::unordered_map<std::string, std::unordered_multiset<std::string>> by_principal_;
};

}  // namespace proteus::server
