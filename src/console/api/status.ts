import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AskState } from './ask.ts'
import type { SignedInAccount, Status } from './wire.ts'

const UNASKED = { data: undefined, error: undefined, busy: false, again: () => {} }

/** The status of the server, which the shell reads for all pages. */
export const StatusContext = createContext<AskState<Status>>(UNASKED)
export const useStatus = () => useContext(StatusContext)

/** The account of the token, likewise. */
export const AccountContext = createContext<AskState<SignedInAccount>>(UNASKED)
export const useAccount = () => useContext(AccountContext)
