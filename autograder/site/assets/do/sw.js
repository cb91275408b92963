// The pages without a connection: what was seen is kept, and the network is asked first, so that a renewed site is seen at once.
"use strict";
const CACHE = "course-pages-1";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method !== "GET" || url.origin !== self.location.origin || e.request.headers.has("range")) return;
  e.respondWith(
    (async () => {
      const cache = await caches.open(CACHE);
      try {
        const fresh = await fetch(e.request);
        if (fresh.ok) e.waitUntil(cache.put(e.request, fresh.clone()));
        return fresh;
      } catch (lost) {
        const kept = await cache.match(e.request, { ignoreVary: true, ignoreSearch: e.request.mode === "navigate" });
        if (kept) return kept;
        throw lost;
      }
    })(),
  );
});
// What the page loaded before this worker was there.
self.addEventListener("message", (e) => {
  e.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE);
      await Promise.all(
        e.data.keep.map(async (url) => {
          if (await cache.match(url, { ignoreVary: true })) return;
          try {
            const got = await fetch(url);
            if (got.ok) await cache.put(url, got);
          } catch {
            /* the next visit */
          }
        }),
      );
      e.source.postMessage({ kept: e.data.keep.length });
    })(),
  );
});
