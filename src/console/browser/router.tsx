import type { ComponentChildren } from 'preact'
import { consoleUrl, createStore, useStore } from './state.ts'

/** The address below `/console`, such as `/explore`, and what stands behind its question mark. */
export interface ConsoleAddress {
  path: string
  query: string
}

const readAddress = (): ConsoleAddress => ({
  path: location.pathname.slice(consoleUrl.length) || '/',
  query: location.search,
})

const currentAddress = createStore<ConsoleAddress>(readAddress())
addEventListener('popstate', () => currentAddress.set(readAddress()))

export const useAddress = (): ConsoleAddress => useStore(currentAddress)

/** `to` begins below `/console`. */
export const navigate = (to: string, { replace = false } = {}) => {
  const url = `${consoleUrl}${to}`
  if (url === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  currentAddress.set(readAddress())
}

/** Changes what stands behind the question mark; an empty value takes the name out. */
export const setQuery = (values: Record<string, string | undefined>, options?: { replace?: boolean }) => {
  const parameters = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values))
    if (value) parameters.set(name, value)
    else parameters.delete(name)
  const query = parameters.toString()
  navigate(`${readAddress().path}${query && `?${query}`}`, options)
}

/** A part of the address as a state of the page, so that a link leads to what is shown. */
export const useQueryState = (
  name: string,
  fallback = '',
): [value: string, set: (value: string, options?: { replace?: boolean }) => void] => {
  const { query } = useAddress()
  const value = new URLSearchParams(query).get(name) ?? fallback
  return [value, (next, options) => setQuery({ [name]: next === fallback ? '' : next }, options)]
}

interface LinkProps {
  to: string
  class?: string | undefined
  title?: string | undefined
  current?: boolean
  children: ComponentChildren
}

/** Leads within the console without a load; with a modifier key it is a link like any other. */
export const Link = ({ to, current = false, children, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={`${consoleUrl}${to}`}
    aria-current={current ? 'page' : undefined}
    onClick={event => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      navigate(to)
    }}
  >
    {children}
  </a>
)
