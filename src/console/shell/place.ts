const { pathname } = location

/** Where the server's paths begin: a proxy may serve them below one of its own. */
export const rootUrl = pathname.slice(0, pathname.indexOf('/console') + 1)

/** Where the console's begin, without a slash at the end. */
export const consoleUrl = `${rootUrl}console`
