import { rootUrl } from './place.ts'
import { createStore } from './store.ts'

/** Whether the server answers. When it does again, `since` changes, and what is shown is asked for anew. */
export interface Connection {
  state: 'up' | 'down'
  since: number
}

export const connection = createStore<Connection>({ state: 'up', since: 0 })

const [FIRST_MS, LONGEST_MS] = [500, 5_000]

/** Told by whoever got no answer: the console looks for the server until that answers again. */
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
