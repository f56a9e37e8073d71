"""Text at the door: Unicode normalisation and the small part of Korean grammar that SAGA needs."""
