#!/bin/sh
# Makes a certificate authority and the proxy's certificate in /certificates (or the folder given), once.
set -eu
folder=${1:-/certificates}
[ -f "$folder/proxy.pem" ] && exit 0
cd "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
  -subj "/CN=Bursar trial authority" -keyout authority.key -out authority.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
  -subj "/CN=venue.example" -keyout proxy.key -out proxy.csr
printf 'subjectAltName=DNS:venue.example,DNS:identity.venue.example\n' > proxy.ext
openssl x509 -req -days 825 -in proxy.csr -CA authority.pem -CAkey authority.key -CAcreateserial \
  -extfile proxy.ext -out proxy.made
# Last, so that a start which was interrupted makes all of it again.
mv proxy.made proxy.pem
