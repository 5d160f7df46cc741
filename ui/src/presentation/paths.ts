// Returns the name of the upstream that a path of the page or of the admin API is about. Returns undefined if the path is
// about none, or if its percent-encoding is invalid.
export function upstreamIn(path: string): string | undefined {
  const found = /^\/(?:ui|admin)\/upstreams\/([^/]+)$/.exec(path);
  try {
    return found ? decodeURIComponent(found[1]!) : undefined;
  } catch {
    return undefined;
  }
}
