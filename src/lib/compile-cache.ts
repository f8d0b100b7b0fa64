import { homedir } from 'node:os'
import { join } from 'node:path'

/** Folder of Node's compile cache: the user's own, since its content is run; undefined without. */
export const compileCacheFolder = (
  env: NodeJS.ProcessEnv = process.env,
  platform = process.platform,
): string | undefined => {
  if (env.NODE_COMPILE_CACHE) return env.NODE_COMPILE_CACHE
  const home = homeFolder()
  const named = { win32: env.LOCALAPPDATA, darwin: home && join(home, 'Library', 'Caches') }
  const caches = platform === 'win32' || platform === 'darwin' ? named[platform] : env.XDG_CACHE_HOME
  const folder = caches || (home && join(home, '.cache'))
  return folder ? join(folder, 'chainsieve') : undefined
}

/** Undefined if the system does not know the user, as in some containers. */
const homeFolder = (): string | undefined => {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
