import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AskState } from './ask.ts'
import type { Status } from './wire.ts'

/** The status of the server, which the shell reads for all pages. */
export const StatusContext = createContext<AskState<Status>>({
  ...{ data: undefined, error: undefined, busy: false },
  again: () => {},
})

export const useStatus = () => useContext(StatusContext)
