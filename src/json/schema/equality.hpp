#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/json/value.hpp>

namespace proteus::json::schema {

// Compares two values as JSON Schema defines equality: numbers by value at any depth, so that 1 equals 1.0, and objects
// regardless of order. Recurses as deep as both values are nested. Adds the cost to `work`, in the units of
// SchemaLimits::work.
bool equal(const boost::json::value& a, const boost::json::value& b, std::size_t& work);

// Returns the same hash for equal values. Adds the cost to `work`, in the units of SchemaLimits::work.
std::uint64_t hash(const boost::json::value& value, std::size_t& work);

}  // namespace proteus::json::schema
