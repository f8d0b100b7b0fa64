import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Where Node keeps what V8 compiled of the program, for the next start: the user's own cache folder, since whoever can write there decides
 * what runs. An empty NODE_COMPILE_CACHE, or NODE_DISABLE_COMPILE_CACHE, is Node's own business.
 */
export const compileCacheFolder = (env: NodeJS.ProcessEnv = process.env, platform = process.platform): string => {
  if (env.NODE_COMPILE_CACHE) return env.NODE_COMPILE_CACHE
  const caches =
    platform === 'win32'
      ? env.LOCALAPPDATA
      : platform === 'darwin'
        ? join(homedir(), 'Library', 'Caches')
        : env.XDG_CACHE_HOME
  return join(caches || join(homedir(), '.cache'), 'chainsieve')
}
