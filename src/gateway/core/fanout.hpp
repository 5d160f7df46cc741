#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/debounce.hpp"
#include "catalog/contexts/contexts.hpp"
#include "catalog/view/catalog.hpp"
#include "server/core/listeners.hpp"

namespace proteus::gateway {

// Tells clients whose lists changed: at once, and then not again before the debounce window has passed. Changes within
// it are one, and what was undone within it is none; each client hears only of lists that are others for it.
class Fanout {
 public:
  // Belongs to the thread of the context; the listeners outlive it.
  Fanout(boost::asio::io_context& io, server::Listeners& listeners, std::chrono::milliseconds debounce);

  // From any thread: the contexts there are from now on, and the catalog as it is.
  void set_contexts(catalog::Contexts::Pointer contexts, catalog::CatalogState::Pointer state);
  // From any thread.
  void publish(const catalog::Publication& publication);
  // From any thread. Lists of an upstream that is listed live, which differ by caller: told to all who may see it, as
  // nobody knows for whom they changed.
  void lists_changed(catalog::UpstreamName upstream, catalog::KindSet kinds);
  // From any thread. Lists that have changed for one principal.
  void lists_changed_for(std::string principal, catalog::KindSet kinds);
  // For each list that clients were told of.
  void set_observer(std::function<void(catalog::Kind)> observer) { observer_ = std::move(observer); }
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    Time at;
    catalog::CatalogState::Pointer before;
    catalog::Contexts::Pointer contexts;  // before; null for none
    catalog::Change change;               // nothing where contexts changed
  };

  struct Live {
    Time at;  // the last time
    catalog::KindSet kinds;
  };
  using LiveByUpstream = std::map<catalog::UpstreamName, Live>;
  using KindsByPrincipal = std::map<std::string, catalog::KindSet>;

  class News;

  void tell_soon();
  void collect(const catalog::Publication& publication, Time at);
  void tell();

  boost::asio::io_context& io_;
  server::Listeners& listeners_;
  Debounce telling_;
  std::function<void(catalog::Kind)> observer_;
  boost::asio::steady_timer timer_;
  bool waiting_ = false;
  bool stopped_ = false;
  catalog::CatalogState::Pointer after_;
  catalog::Contexts::Pointer contexts_;
  std::vector<Entry> changes_;  // in the order in which they happened
  LiveByUpstream live_;
  KindsByPrincipal own_;
};

}  // namespace proteus::gateway
