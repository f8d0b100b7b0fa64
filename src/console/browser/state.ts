import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  get(): T
  set(value: T): void
  subscribe(listener: () => void): () => void
}

export const createStore = <T>(initial: T): Store<T> => {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export const useStore = <T>(store: Store<T>): T => {
  const [, draw] = useState({})
  const seen = store.get()
  useEffect(() => {
    const unsubscribe = store.subscribe(() => draw({}))
    // The store may have changed since rendering.
    if (!Object.is(seen, store.get())) draw({})
    return unsubscribe
  }, [store])
  return seen
}

const { pathname } = location

/** Base path of the server, which a proxy may change. */
export const rootUrl = pathname.slice(0, pathname.indexOf('/console') + 1)

/** Base path of the console, without a trailing slash. */
export const consoleUrl = `${rootUrl}console`

/** The API token lives as long as the tab: never in an address, a cookie or shared storage. */
interface Session {
  token: string | undefined
  /** Why the server ended it. */
  reason?: string
}

const KEY = 'chainsieve.token'

export const session = createStore<Session>({ token: sessionStorage.getItem(KEY) ?? undefined })

export const signIn = (token: string) => {
  sessionStorage.setItem(KEY, token)
  session.set({ token })
}

export const signOut = (reason?: string) => {
  sessionStorage.removeItem(KEY)
  session.set({ token: undefined, ...(reason === undefined ? {} : { reason }) })
}

/** Whether the server answers. `since` changes when it is back, which reloads data. */
interface ServerConnection {
  state: 'up' | 'down'
  since: number
}

export const connection = createStore<ServerConnection>({ state: 'up', since: 0 })

const [FIRST_MS, LONGEST_MS] = [500, 5_000]

/** Polls the server until it answers again. */
export const connectionLost = () => {
  if (connection.get().state === 'down') return
  connection.set({ ...connection.get(), state: 'down' })
  void lookUntilBack()
}

const lookUntilBack = async () => {
  for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, LONGEST_MS)) {
    await new Promise(resolve => setTimeout(resolve, wait))
    const isBack = await fetch(`${rootUrl}health`, { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isBack) return connection.set({ state: 'up', since: connection.get().since + 1 })
  }
}
