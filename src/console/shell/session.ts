import { createStore } from './store.ts'

/** The token that requests show. It lives as long as the tab; it is never in an address, in a cookie or in a store of all tabs. */
export interface Session {
  token: string | undefined
  /** Why it ended, where the user did not end it. */
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
