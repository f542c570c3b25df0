# teaches: A frame that can never be compiled
from minicompiler.capture.cache import cache_of, with_found
from minicompiler.errors import warn
from minicompiler.settings import config


def find_or_compile(code, f_globals, vector, region, compile):
    cache = cache_of(code, f_globals)
    if cache is None:
        return None
    with cache.lock:
        known = cache.lookup(region, vector)
        if known is not None:
            return with_found(known[0].replacement, known[1])
        cache.prune()
        if cache.artefacts(region, vector) >= config.recompile_limit:
            cache.give_up(region)
            warn("compiled too often")
            return None
        left = [c for _, c in cache.of(region) if c.replacement is None]
        compiled = compile() if len(left) < config.recompile_limit else None
        if compiled is None:
            return None
        found = compiled is not None and cache.insert(region, compiled, vector)
        if found:
            return with_found(compiled.replacement, found)
        cache.give_up(region)
        return None
