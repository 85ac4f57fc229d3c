/** Entry of the console: draws it into the page. */
import { render } from "preact"
import * as Plain from "@bursar/http-host/plain-client"
import table from "virtual:interface"

const place = document.getElementById("console")
if (place !== null)
  render(
    <p>
      {Object.keys(table.reads).length} {typeof Plain.make}
    </p>,
    place
  )
